package main

import "math/big"

// price is what something costs.
type price struct {
	what, unit string
	usd        *big.Rat // of one unit
	official   bool     // its page is AWS's own, and states the amount
	page       string   // empty where none was kept
}

// source says how far a price can be relied on.
func (p price) source() string {
	switch {
	case p.page == "":
		return "not confirmed, no page kept"
	case p.official:
		return "AWS: " + p.page
	}
	return "not confirmed, quoted by " + p.page
}

// usd reads an amount of dollars, divided by so many units.
func usd(text string, per int64) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("cost: " + text + " is no number") // a table of ours
	}
	return r.Quo(r, new(big.Rat).SetInt64(per))
}

const (
	million     = 1_000_000
	lookedUp    = "2026-12-01"
	priceRegion = "us-east-1"
)

// The prices of what a request uses, beyond any free tier, of the first tier of
// volume.
var (
	apiRequest  = price{"API Gateway, HTTP API", "request up to 512 KB", usd("1.00", million), false, "apigatewaycost.com/aws"}
	invocation  = price{"Lambda", "invocation", usd("0.20", million), false, "git.mcrn.ar/mariano/lambda_local_runner (docs/lambdas-md/lambda-13-cost.md)"}
	gigabyteSec = price{"Lambda on arm64", "GB-second", usd("0.0000133334", 1), false, "git.mcrn.ar/mariano/lambda_local_runner (docs/lambdas-md/lambda-13-cost.md)"}
	readRequest = price{"DynamoDB on demand", "read unit", usd("0.125", million), false, "airbyte.com/data-engineering-resources/dynamodb-pricing"}
	writeUnits  = price{"DynamoDB on demand", "write unit", usd("0.625", million), false, "airbyte.com/data-engineering-resources/dynamodb-pricing"}
	event       = price{"EventBridge", "custom event of 64 KB", usd("1.00", million), false, "cloudburn.io/blog/amazon-eventbridge-pricing"}
	queueCall   = price{"SQS", "request", usd("0.40", million), false, "cloudburn.io/blog/amazon-sqs-pricing"}
	storedPut   = price{"S3", "PUT", usd("0.005", 1000), false, "c3x.dev/blog/s3-request-fees-explained"}
	fetchedGet  = price{"S3", "GET", usd("0.0004", 1000), false, "c3x.dev/blog/s3-request-fees-explained"}
	logByte     = price{"CloudWatch Logs", "GB taken in", usd("0.50", 1<<30), false, "factualminds.com/blog/amazon-cloudwatch-pricing-metrics-logs-alarms-dashboards"}
	traceKept   = price{"X-Ray", "trace recorded", usd("5.00", million), true, "aws.amazon.com/de/xray/pricing"}

	keyMonth       = price{"KMS", "key and month", usd("1", 1), true, "aws.amazon.com/kms/pricing"}
	secretMonth    = price{"Secrets Manager", "secret and month", usd("0.40", 1), false, ""}
	alarmMonth     = price{"CloudWatch", "alarm and month", usd("0.10", 1), false, ""}
	dashboardMonth = price{"CloudWatch", "dashboard and month", usd("3", 1), false, "factualminds.com/blog/amazon-cloudwatch-pricing-metrics-logs-alarms-dashboards"}
	metricMonth    = price{"CloudWatch", "metric of our own and month", usd("0.30", 1), false, "signoz.io/guides/cloudwatch-pricing"}
)

// prices are all of them, as they are documented.
var prices = []price{
	apiRequest, invocation, gigabyteSec, readRequest, writeUnits, event, queueCall, storedPut, fetchedGet, logByte, traceKept,
	keyMonth, secretMonth, alarmMonth, dashboardMonth, metricMonth,
}
