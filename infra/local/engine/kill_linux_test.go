package engine_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/robotmoney/mcp/infra/local/engine"
)

// inFolder makes this test binary the program that gets killed.
const inFolder = "ENGINE_TEST_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(inFolder); dir != "" {
		if err := hold(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		select {}
	}
	os.Exit(m.Run())
}

// hold starts both engines and prints their process ids.
func hold(dir string) error {
	ctx := context.Background()
	b, err := engine.Install(ctx, installed)
	if err != nil {
		return err
	}
	db, err := engine.DynamoDB(ctx, engine.DynamoDBConfig{Binary: b.Dynoxide, DBPath: filepath.Join(dir, "db.sqlite")})
	if err != nil {
		return err
	}
	chain, err := engine.Anvil(ctx, engine.AnvilConfig{Binary: b.Anvil, State: filepath.Join(dir, "anvil.json")})
	if err != nil {
		return err
	}
	fmt.Println(db.PID(), chain.PID())
	return nil
}

// Nothing can run when a program is killed: the kernel must end the engines.
func TestEnginesDieWithAKilledProgram(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), inFolder+"="+t.TempDir())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	var database, chain int
	_, err = fmt.Sscan(line, &database, &chain)
	must(t, err)
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	until(t, "dynoxide ended", func() bool { return gone(database) })
	until(t, "anvil ended", func() bool { return gone(chain) })
}
