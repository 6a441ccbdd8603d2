package engine

import "syscall"

// group puts a process into a group of its own, so that Ctrl-C reaches it only
// through us.
func group() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
