package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// scripts make a shell ask the program itself what may come next, so that they
// never grow old.
var scripts = map[string]string{
	"bash": `# source <(robotmoney completion bash)
_robotmoney() {
    local IFS=$'\n'
    COMPREPLY=($(robotmoney complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _robotmoney robotmoney
`,
	"zsh": `# source <(robotmoney completion zsh)
_robotmoney() {
    local -a found
    found=(${(f)"$(robotmoney complete "${(@)words[2,CURRENT]}" 2>/dev/null)"})
    if (( ${#found} )); then compadd -a found; else _files; fi
}
compdef _robotmoney robotmoney
`,
	"fish": `# robotmoney completion fish | source
complete -c robotmoney -a '(robotmoney complete (commandline -opc)[2..] (commandline -ct))'
`,
}

var shells = []string{"bash", "zsh", "fish"}

func completion(_ context.Context, c *call) error {
	if err := c.parse(1); err != nil {
		return err
	}
	script, known := scripts[c.args[0]]
	if !known {
		return usageError(fmt.Sprintf("no completion for %.20q: want one of %s", c.args[0], strings.Join(shells, ", ")))
	}
	_, err := io.WriteString(c.out, script)
	return err
}

// candidates are what may stand where the last of the words is being typed; none
// means a file or something only its author knows.
func candidates(ctx context.Context, words []string) []string {
	if len(words) == 0 {
		words = []string{""}
	}
	before, typed := words[:len(words)-1], words[len(words)-1]
	var all []string
	cmd, _, ok := find(before)
	switch {
	case ok && cmd.name == "completion":
		all = shells
	case ok && strings.HasPrefix(typed, "-"):
		all = flagsOf(ctx, cmd)
	case !ok:
		all = wordsAfter(before)
	}
	return slices.DeleteFunc(slices.Clone(all), func(word string) bool { return !strings.HasPrefix(word, typed) })
}

// wordsAfter are the next words of the commands that begin so.
func wordsAfter(before []string) []string {
	var all []string
	for _, cmd := range commands() {
		words := strings.Fields(cmd.name)
		if len(words) > len(before) && slices.Equal(words[:len(before)], before) {
			all = append(all, words[len(before)])
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// flagsOf are the flags a command reads. It names them before it does anything,
// and asked for help it does nothing else.
func flagsOf(ctx context.Context, cmd command) []string {
	c := newCall(cmd, []string{"--help"}, io.Discard, io.Discard, func(string) string { return "" })
	_ = cmd.run(ctx, c)
	var all []string
	c.flags.VisitAll(func(f *flag.Flag) { all = append(all, "--"+f.Name) })
	return append(all, "--help")
}
