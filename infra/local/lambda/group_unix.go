//go:build unix && !linux

package lambda

import "syscall"

// ownGroup puts a process into a group of its own, so that it can be killed
// with all its children. Only Linux can also tie it to this program's life.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
