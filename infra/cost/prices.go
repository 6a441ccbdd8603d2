package main

import "math/big"

// price is what something costs.
type price struct {
	what, unit string
	usd        *big.Rat // of one unit
	source     string
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
	official    = "AWS's own page"
	secondHand  = "third parties that quote AWS's page"
	lookedUp    = "2026-12-01"
	priceRegion = "us-east-1"
)

// The prices of what a request uses, beyond any free tier, of the first tier of
// volume.
var (
	apiRequest  = price{"API Gateway, HTTP API", "request up to 512 KB", usd("1.00", million), secondHand}
	invocation  = price{"Lambda", "invocation", usd("0.20", million), secondHand}
	gigabyteSec = price{"Lambda on arm64", "GB-second", usd("0.0000133334", 1), secondHand}
	readRequest = price{"DynamoDB on demand", "read unit", usd("0.125", million), secondHand}
	writeUnits  = price{"DynamoDB on demand", "write unit", usd("0.625", million), secondHand}
	event       = price{"EventBridge", "custom event of 64 KB", usd("1.00", million), secondHand}
	queueCall   = price{"SQS", "request", usd("0.40", million), secondHand}
	storedPut   = price{"S3", "PUT", usd("0.005", 1000), secondHand}
	fetchedGet  = price{"S3", "GET", usd("0.0004", 1000), secondHand}
	logByte     = price{"CloudWatch Logs", "GB taken in", usd("0.50", 1<<30), secondHand}
	traceKept   = price{"X-Ray", "trace recorded", usd("5.00", million), secondHand}

	keyMonth       = price{"KMS", "key and month", usd("1", 1), official}
	secretMonth    = price{"Secrets Manager", "secret and month", usd("0.40", 1), secondHand}
	alarmMonth     = price{"CloudWatch", "alarm and month", usd("0.10", 1), secondHand}
	dashboardMonth = price{"CloudWatch", "dashboard and month", usd("3", 1), secondHand}
	metricMonth    = price{"CloudWatch", "metric of our own and month", usd("0.30", 1), secondHand}
)

// prices are all of them, as they are documented.
var prices = []price{
	apiRequest, invocation, gigabyteSec, readRequest, writeUnits, event, queueCall, storedPut, fetchedGet, logByte, traceKept,
	keyMonth, secretMonth, alarmMonth, dashboardMonth, metricMonth,
}
