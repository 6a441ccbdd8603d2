package lambda

import "syscall"

// ownGroup puts a process into a group of its own, so that it can be killed
// with all its children, and has the kernel end it if this program is killed.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
