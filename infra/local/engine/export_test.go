package engine

// What tests need to see of the inside: they kill engines as a crash would.

// PID of the engine.
func (d *Database) PID() int { return d.current().cmd.Process.Pid }

// PID of the chain.
func (c *Chain) PID() int { return c.process.cmd.Process.Pid }

// Call makes one JSON-RPC call.
var Call = (*Chain).call

// Unpack reads a dump.
var Unpack = unpack
