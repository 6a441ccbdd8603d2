package engine

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// unpack turns what anvil_dumpState answers (0x, hex, gzip) into the JSON that
// --load-state reads.
func unpack(dump string) ([]byte, error) {
	packed, err := hex.DecodeString(strings.TrimPrefix(dump, "0x"))
	if err != nil {
		return nil, fmt.Errorf("decode dump: %w", err)
	}
	unzip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("decompress dump: %w", err)
	}
	state, err := io.ReadAll(unzip)
	if err != nil {
		return nil, fmt.Errorf("decompress dump: %w", err)
	}
	if !json.Valid(state) {
		return nil, errors.New("the dump is not JSON")
	}
	return state, nil
}

// replace writes a file so that at any moment, and after any end of this
// program, there is the old one or the new one, whole.
func replace(path string, content []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
