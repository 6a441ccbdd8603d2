package engine

import "syscall"

// ownGroup puts a process into a group of its own, which Ctrl-C in a terminal
// does not reach and which can be ended as a whole, and has the kernel kill it
// when the thread that started it ends: see run.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
