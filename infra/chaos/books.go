package main

import (
	"github.com/robotmoney/mcp/shared/domain/journal/checker"
	"github.com/robotmoney/mcp/shared/domain/rollups"
)

// Books are what there is of one company after everything has settled, as it lies
// in the table and in the files of the stack. The rules look at nothing else.
type Books struct {
	Tenant     string
	Intents    []Intent
	Executions []Execution
	Payments   []Payment
	Transfers  []Transfer // of the bank
	Artifacts  []Artifact
	Rows       []Row
	Events     []Event // of the journal, in its order
	Published  []Event // that the bus accepted, as often as it did
	Promised   map[string]Promised
	Before     cents // of the account, when the traffic began
	After      cents
	Held       cents // reserved of the account
	Turn       string
	Journal    checker.Report
	Rollups    rollups.Report
	Proofs     map[string]string // of executed intents: what is wrong, empty for one that holds
	Outbox     []string          // ids of events that still wait
	Letters    []Letter
}

// Intent is a payment intent of the traffic.
type Intent struct {
	ID, Agent, Memo, Status string
	Amount                  cents
	Rule                    string   // the first that matched, of the decision in force
	Approvals               []string // members
	RefusedBy               string   // the member who rejected it
}

// Execution is what is kept of an intent's way over the rail.
type Execution struct {
	ID, Intent, State string
}

// Payment is a row of the ledger that an execution wrote.
type Payment struct {
	ID, Intent string
	Amount     cents
}

// Artifact is what was contributed.
type Artifact struct {
	ID, SHA256, State string
}

// Row is a row of the ledger that came out of an artifact; Of is the key it was
// contributed under.
type Row struct {
	ID, Of string
}

// Event is what an event says that the reckoning looks at.
type Event struct {
	ID, Action, Actor, RequestID, Code string
	Subject                            string // after_state.id, else inputs.id
	Decision                           string // inputs.decision
}

// Promised are the counts that an agent's cap is held against.
type Promised struct {
	Day  cents // all that is counted in the buckets of a day
	Open int64 // proposals that wait
}

// Letter is a dead letter.
type Letter struct {
	Queue, From, Reason, Body string
}
