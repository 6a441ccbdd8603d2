package roles_test

import "path"

// excuse is why something is allowed that TestRoles does not see used: grants in
// words, any of them where * stands, and the reason.
type excuse struct{ grants, why string }

func (e excuse) matches(grant string) bool {
	ok, err := path.Match(e.grants, grant)
	return err == nil && ok
}

const byAWS = "AWS's own services do it for the function; here they do not exist"

var unused = []excuse{
	{"* WriteLogs logs:* *", byAWS},
	{"* WriteTraces xray:* [*]", byAWS},
	{"* UseDataKey kms:* DataKey", byAWS},
	{"* TakeFromTheQueue sqs:* *", byAWS},
	{"* SendDeadLetters sqs:SendMessage *", byAWS},
	{"McpRole EncryptArtifacts kms:GenerateDataKey DataKey", byAWS},
	{"McpRole ReadCursorKey secretsmanager:GetSecretValue CursorKey", "the local stack hands the key over itself; shared/platform/secret tests the call"},
	{"AnchorRole SignAnchors kms:* PublisherKey", "the local stack signs with a key of its own; shared/platform/kms tests both calls"},
	{"McpRole AskTheModel bedrock:InvokeModel arn:*/*", "no model is called in a test; shared/platform/bedrock tests the call against a stub"},
	{"ExecuteRole PutOrders *", "the local stack's rail is the sandbox"},
	{"ExecuteRole SignTransfers kms:* PayerKey", "the local stack pays no tokens; functions/execute tests the rail on a chain, shared/platform/kms both calls"},
	{"ExecuteRole * due#receipts", "the local stack's rail is the sandbox, whose receipts nobody waits for; functions/execute tests the bank"},
	{"ExecuteRole * nonce#[*]", "the local stack pays no tokens"},
	{"IngestRole DeleteMarks tenant#[*]#suffix", "an agent's and an operator's file that bring one counterparty at one time"},
	{"McpRole PutOwnEvents agent.mcp.rate_limited", "nobody is flooded here; shared/domain/access tests it"},
	{"McpRole ReadItems capability#[*]", "nothing issues capability tokens yet; shared/domain/access tests how they are read"},
	{"OutboxRole PutEventsOfOthers *", "what the sweep may put is what others may: TestTheSweepMayPutWhatOthersMay"},
}
