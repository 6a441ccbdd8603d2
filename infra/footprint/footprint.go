// Package footprint says how much memory something takes.
package footprint

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// Peak follows the memory that this process takes beyond what it had, from now
// until the function that is returned is called for the first time, which gives
// the most there was, in bytes.
func Peak() func() uint64 {
	debug.FreeOSMemory()
	base := held()
	stop, most := make(chan struct{}), make(chan uint64)
	go func() {
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for peak := base; ; {
			select {
			case <-stop:
				most <- peak - base
				return
			case <-ticker.C:
				peak = max(peak, held())
			}
		}
	}()
	return sync.OnceValue(func() uint64 { close(stop); return <-most })
}

// held is what the process has of the machine now.
func held() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys - m.HeapReleased
}
