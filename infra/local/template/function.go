package template

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Defaults of AWS where a template says nothing.
const (
	defaultAsyncRetries  = 2
	defaultTargetRetries = 185
	defaultVisibility    = 30
	defaultBatchSize     = 10
)

func (r *reader) function(id string, o *object) {
	r.inherit(id, o)
	o.ignore("Description", "Role", "Tracing", "LoggingConfig", "Tags", "FunctionName", "AutoPublishAlias", "DeploymentPreference", "ProvisionedConcurrencyConfig")
	o.one("Runtime", "provided.al2023")
	o.one("Handler", "bootstrap")
	for i, n := range o.list("Architectures") {
		if text, err := r.text(n); err != nil || text != "arm64" {
			r.problem(fmt.Sprintf("%s.Architectures[%d]", id, i), n, "only arm64 is built")
		}
	}
	f := Function{
		LogicalID:            id,
		CodeURI:              o.must("CodeUri"),
		ReservedConcurrency:  o.number("ReservedConcurrentExecutions", 0, 1, 100_000),
		Environment:          map[string]string{},
		MaximumRetryAttempts: defaultAsyncRetries,
	}
	// Explicit: AWS would give 3 s and 128 MB, which nobody means.
	if o.get("MemorySize") == nil {
		o.missing("MemorySize")
	}
	if o.get("Timeout") == nil {
		o.missing("Timeout")
	}
	f.MemoryMB = o.number("MemorySize", 128, 128, 10_240)
	f.Timeout = o.seconds("Timeout", 3, 1, 900)
	environment := o.sub("Environment")
	variables := environment.sub("Variables")
	for _, name := range variables.order {
		f.Environment[name] = variables.text(name)
	}
	environment.done()
	r.async(o, &f)
	r.Functions = append(r.Functions, f)
	events := o.sub("Events")
	for _, name := range events.order {
		r.event(id, name, events.sub(name))
	}
}

// inherit fills in what Globals says of all functions. Variables are merged, as
// SAM does; another mapping in both places is refused, not guessed at.
func (r *reader) inherit(id string, o *object) {
	node, ok := r.globals["Function"]
	if !ok {
		return
	}
	for globals, i := r.object("Globals.Function", &node), 0; i < len(globals.order); i++ {
		key := globals.order[i]
		value, own := globals.values[key], o.values[key]
		switch {
		case own == nil:
			o.set(key, value)
		case key == "Environment":
			o.set(key, mergeVariables(value, own))
		case own.Kind != yaml.ScalarNode:
			r.problem(id+"."+key, own, "also in Globals.Function: merging the two is not understood here")
		}
	}
}

// mergeVariables joins two Environment mappings; the function's own variable
// wins over the global one of the same name.
func mergeVariables(global, own *yaml.Node) *yaml.Node {
	joined, variables := *own, yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: own.Line}
	joined.Content = nil
	for i := 0; i+1 < len(own.Content); i += 2 {
		if own.Content[i].Value == "Variables" {
			variables = *own.Content[i+1]
			continue
		}
		joined.Content = append(joined.Content, own.Content[i:i+2]...)
	}
	if inherited := child(global, "Variables"); inherited != nil {
		for i := 0; i+1 < len(inherited.Content); i += 2 {
			if child(&variables, inherited.Content[i].Value) == nil {
				variables.Content = append(variables.Content, inherited.Content[i:i+2]...)
			}
		}
	}
	key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "Variables"}
	joined.Content = append(joined.Content, key, &variables)
	return &joined
}

// child returns the value under a key of a mapping, nil when it is not there.
func child(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// async reads what happens to events the function fails on.
func (r *reader) async(o *object, f *Function) {
	invoke := o.sub("EventInvokeConfig")
	invoke.ignore("MaximumEventAgeInSeconds")
	f.MaximumRetryAttempts = invoke.number("MaximumRetryAttempts", defaultAsyncRetries, 0, 2)
	destination := invoke.sub("DestinationConfig")
	failed := destination.sub("OnFailure")
	if failed.get("Destination") != nil {
		failed.one("Type", "SQS")
		f.DeadLetter = failed.names("Destination", typeQueue)
	}
	failed.done()
	destination.done()
	invoke.done()
	letter := o.sub("DeadLetterQueue")
	if letter.get("TargetArn") != nil {
		letter.one("Type", "SQS")
		f.DeadLetter = letter.names("TargetArn", typeQueue)
	}
	letter.done()
}

// event reads one entry of a function's Events.
func (r *reader) event(function, name string, o *object) {
	kind := o.must("Type")
	p := r.object(o.where, o.get("Properties"))
	if p.node == nil {
		p.node = o.node
	}
	id := function + name // the logical id SAM gives to what it makes of it
	switch kind {
	case "EventBridgeRule":
		retries, letter := r.failures(p)
		r.Rules = append(r.Rules, Rule{
			LogicalID: id,
			Bus:       p.names("EventBusName", typeBus),
			Pattern:   r.pattern(p, "Pattern"),
			Targets:   []Target{{Function: function, MaximumRetryAttempts: retries, DeadLetter: letter}},
		})
	case "Schedule":
		p.ignore("Description")
		p.one("Enabled", "", "true")
		r.Schedules = append(r.Schedules, Schedule{id, p.must("Schedule"), function, r.input(p)})
	case "ScheduleV2":
		p.ignore("Description", "PermissionsBoundary", "FlexibleTimeWindow", "RetryPolicy", "DeadLetterConfig")
		r.Schedules = append(r.Schedules, Schedule{id, p.must("ScheduleExpression"), function, r.input(p)})
	case "SQS":
		r.reads(function, p)
	default:
		r.problem(o.path("Type"), o.node, "%q is not understood here", kind)
		return
	}
	p.done()
	o.done()
}

// reads joins a function to the queue it reads.
func (r *reader) reads(function string, p *object) {
	queue := p.names("Queue", typeQueue)
	scaling := p.sub("ScalingConfig")
	reader := &Reader{
		Function:           function,
		BatchSize:          p.number("BatchSize", defaultBatchSize, 1, 10_000),
		BatchingWindow:     p.seconds("MaximumBatchingWindowInSeconds", 0, 0, 300),
		MaximumConcurrency: scaling.number("MaximumConcurrency", 0, 2, 1000),
	}
	scaling.done()
	for i, n := range p.list("FunctionResponseTypes") {
		if text, err := r.text(n); err != nil || text != "ReportBatchItemFailures" {
			r.problem(fmt.Sprintf("%s.FunctionResponseTypes[%d]", p.where, i), n, "only ReportBatchItemFailures is understood here")
		}
		reader.PartialFailures = true
	}
	if r.readers[queue] != nil {
		r.problem(p.path("Queue"), p.get("Queue"), "queue %s already has a reader", queue)
	}
	r.readers[queue] = reader
}
