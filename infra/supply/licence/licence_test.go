package licence_test

import (
	"go/build"
	"os"
	"path/filepath"

	"strings"
	"testing"

	"github.com/robotmoney/mcp/infra/supply/licence"
)

const (
	mit = `Copyright (c) 2020 Somebody
Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software.
The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.
THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND.`
	isc = `Permission to use, copy, modify, and/or distribute this software for any
purpose with or without fee is hereby granted. THE SOFTWARE IS PROVIDED "AS IS".`
	bsd2 = `Redistribution and use in source and binary forms, with or without
modification, are permitted provided that the following conditions are met:`
	bsd3   = bsd2 + ` Neither the name may be used to endorse or promote products derived from this software without specific prior written permission.`
	apache = `Apache License Version 2.0, January 2004. Grant of Copyright License. Grant of Patent License. END OF TERMS AND CONDITIONS`
)

func TestOf(t *testing.T) {
	more := strings.Repeat(" and moreover", 150)
	for _, c := range []struct {
		name, text string
		want       licence.Name
	}{
		{"MIT", mit, licence.MIT},
		{"MIT as a comment", "// " + strings.ReplaceAll(mit, "\n", "\n// "), licence.MIT},
		{"MIT without the notice", strings.Replace(mit, "The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.\n", "", 1), licence.MIT0},
		{"ISC", isc, licence.ISC},
		{"BSD of two", bsd2, licence.BSD2},
		{"BSD of three", bsd3, licence.BSD3},
		{"BSD of four", bsd3 + " All advertising materials mentioning this software must display an acknowledgement.", licence.Unknown},
		{"Apache", apache, licence.Apache2},
		{"MIT with more", mit + more, licence.Unknown},
		{"ISC with more", isc + more, licence.Unknown},
		{"BSD with more", bsd3 + more, licence.Unknown},
		{"Apache with much more", apache + strings.Repeat(more, 10), licence.Unknown},
		{"GPL", "GNU GENERAL PUBLIC LICENSE\nVersion 3, 29 June 2007", licence.GPL3},
		{"LGPL", "GNU LESSER GENERAL PUBLIC LICENSE Version 3", licence.LGPL3},
		{"nothing", "", licence.Unknown},
		{"a name alone", "MIT License", licence.Unknown},
	} {
		if got := licence.Of(c.text); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// The text that Go itself comes with is known.
func TestOfGo(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(build.Default.GOROOT, "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	if got := licence.Of(string(text)); got != licence.BSD3 {
		t.Errorf("Go is under %s", got)
	}
}
