package template

import (
	"encoding/json"
	"fmt"
)

func (r *reader) bus(id string, o *object) {
	o.ignore("Description", "Tags")
	r.Buses = append(r.Buses, Bus{LogicalID: id, Name: o.must("Name")})
}

// rule reads a rule that is a resource of its own, as those with a queue for a
// target are.
func (r *reader) rule(id string, o *object) {
	o.ignore("Description", "Name")
	o.one("State", "", "ENABLED")
	rule := Rule{LogicalID: id, Bus: o.names("EventBusName", typeBus), Pattern: r.pattern(o, "EventPattern")}
	for i, n := range o.list("Targets") {
		t := o.object(fmt.Sprintf("%s.Targets[%d]", id, i), n)
		t.ignore("Id")
		named := t.names("Arn", typeFunction, typeQueue)
		target := Target{}
		if r.resources[named] == typeQueue {
			target.Queue = named
		} else {
			target.Function = named
		}
		target.MaximumRetryAttempts, target.DeadLetter = r.failures(t)
		t.done()
		rule.Targets = append(rule.Targets, target)
	}
	if len(rule.Targets) == 0 {
		o.missing("Targets")
	}
	r.Rules = append(r.Rules, rule)
}

// failures reads how often a delivery is tried and where it ends.
func (r *reader) failures(o *object) (retries int, deadLetter string) {
	retry := o.sub("RetryPolicy")
	retry.ignore("MaximumEventAgeInSeconds")
	retries = retry.number("MaximumRetryAttempts", defaultTargetRetries, 0, defaultTargetRetries)
	retry.done()
	letter := o.sub("DeadLetterConfig")
	deadLetter = letter.namesIfAny("Arn", typeQueue)
	letter.done()
	return retries, deadLetter
}

// pattern reads an event pattern, which must be there: a rule without one would
// match nothing here and is an error on AWS.
func (r *reader) pattern(o *object, key string) json.RawMessage {
	if o.get(key) == nil {
		o.missing(key)
		return nil
	}
	return o.json(key)
}

// input reads the constant event of a schedule, which the template holds as
// JSON text.
func (r *reader) input(o *object) json.RawMessage {
	text := o.text("Input")
	if text == "" {
		return nil
	}
	if !json.Valid([]byte(text)) {
		r.problem(o.path("Input"), o.get("Input"), "%q is not JSON", text)
		return nil
	}
	return json.RawMessage(text)
}

func (r *reader) queue(id string, o *object) {
	o.ignore("KmsMasterKeyId", "KmsDataKeyReusePeriodSeconds", "MessageRetentionPeriod", "QueueName", "SqsManagedSseEnabled", "Tags")
	q := Queue{LogicalID: id, VisibilityTimeout: o.seconds("VisibilityTimeout", defaultVisibility, 0, 43_200)}
	redrive := o.sub("RedrivePolicy")
	q.MaxReceiveCount = redrive.number("maxReceiveCount", 0, 1, 1000)
	q.DeadLetter = redrive.namesIfAny("deadLetterTargetArn", typeQueue)
	if (q.MaxReceiveCount == 0) != (q.DeadLetter == "") {
		r.problem(redrive.where, redrive.node, "maxReceiveCount and deadLetterTargetArn belong together")
	}
	redrive.done()
	r.Queues = append(r.Queues, q)
}
