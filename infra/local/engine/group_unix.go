//go:build unix && !linux

package engine

import "syscall"

// ownGroup puts a process into a group of its own. Only Linux can also tie it to
// this program's life.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
