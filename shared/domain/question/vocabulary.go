package question

// The lexicon is how people word what is understood. It grows by wordings: the
// code that looks at slots stays as it is. The longest wording that fits wins. A
// word that is in no line and names nothing makes the whole question unread, so
// words that change a meaning stay out of filler.

// grammar is what says nothing, and what turns a meaning around.
var grammar = []reads{
	{filler, "", `what|whats|which|who|whos|whom|is|are|was|were|be|been|being|am|the|a|an|our|ours|my|mine|we|us|i|me|you|your|do|does|did|done|have|has|had|having|hows|wheres
		|of|in|on|at|for|to|from|by|with|and|across|during|within|between|as|where|there|it|its|that|this|these|those|them|they|he|she|so|far|into|out
		|show|list|give|tell|get|got|see|view|display|find|fetch|pull|print|report|send me|send us|let me know|let|know|find out|look|look up|check|doing|can|could|would|will|please|kindly|just|must
		|how much|how|currently|right now|now|at the moment|at present|current|hi|hello|hey|ok|okay|thanks|thank you|need|needs|want|like|looking|snapshot|lately|recently
		|company|business|robotmoney|account|accounts|acct|accts|acc|any|anything|some|going|go|goes|went|gone|stand|standing|made|make|makes|sit|sitting|held|hold|holding|holds|about|coming|come|quick|summary|summarise|summarize|overview|details|detail|info|information|ones|one
		|actually|exactly|roughly|approximately|really|please tell me|id like to know|i would like to know|id like to see|i want to see|i want to know|wondering|sum|figure|number|numbers|amount|amounts|value|size
		|all of our|firm|startup|hey there|good morning|quickly|soon|take|took|taken|look like|looks like|a list|list of|ending in|ending|called`},
	{turn, "", `not|no|never|except|excluding|exclude|without|only|but|other than|besides|apart from|minus|less|instead of|rather than|neither|nor|if|unless|ignoring|ignore|net of|aside from|wont|dont|didnt|isnt|arent|wasnt|havent|hasnt|cant|nothing|none|hypothetically|likely|weekend|weekends|weekday|weekdays|half|twice|double|or`},
	{later, "", `forecast|forecasts|project|projected|projection|projections|predict|budget|budgets|margin|margins|profit|profits|profitable|ebitda|ebit|mrr|arr|ltv|cac|churn|trend|trends|growth rate|median|percent|percentage|share|depreciate|depreciation|interest rate
		|exchange rate|exchange rates|fx|convert|converted|conversion|invest|investment|afford|should|cheaper|enough|industry|benchmark|valuation|stock|equity|loan rate|credit score|save|switch|likely|headcount|weather|price|pricing|tax rate|deductible|write off`},
}

// subjects are what questions are about.
var subjects = []reads{
	{topic, aboutCash, `cash|cash position|cash positions|cash balance|cash balances|cash on hand|cash at bank|cash in bank|cash in the bank|available cash|liquid cash|liquidity|liquidity position|liquid|how liquid
		|liquid funds|funds|available funds|funds available|money in the bank|money in bank|money at the bank|money is in the bank|money is at the bank|money available|available money|bank balance|bank balances|in the bank|at the bank|spendable cash|cash available|cash available to spend|cash reserves|bank account|bank accounts|bank account balance|bank account balances|stand on cash|cash situation|cash stand|cash level|cash at hand|cash in hand|treasury`},
	{topic, aboutBalance, `balance|balances|account balance|account balances|current balance|available balance|current balances`},
	{topic, aboutHoldings, `money|money do we have|how much do we have|how much do i have|how much have we got|how much is there|how much is available|how much is left|money is left|money left|money have we got`},
	{filler, "", `available|left|remaining`},

	{topic, aboutMoves, `transaction|transactions|txn|txns|tx|txs|activity|account activity|entry|entries|movement|movements|booking|bookings|item|items|line items`},
	{topic, aboutPayments, `payment|payments`},
	{topic, aboutOut, `charged|charge|charges|purchase|purchases|debit|debits|outgoing payment|outgoing payments|payments made|withdrawal|withdrawals|payments we made|payments did we make|payments have we made|payment we made|payout|payouts|transaction out|transactions out|outgoing transaction|outgoing transactions`},
	{topic, aboutIn, `deposit|deposits|incoming payment|incoming payments|payment received|payments received|received payments|payments we received|payments we got|payment we received|payments have we received|payments did we receive|receipt|receipts|incoming transaction|incoming transactions|customer payment|customer payments`},
	{topic, aboutOwn, `transfers|internal transfer|internal transfers|transfers between accounts|transfers between own accounts|transfers between our accounts|transfer`},
	{topic, aboutPay, `pay|paid|pays|paying|payed`},
	{topic, aboutPaidUs, `paid us|pay us|pays us|paying us|payed us|paid to us|pay to us|received from|receive from|get from|got from|collect from|collected from|collect|collected|come in from|came in from|coming in from`},

	{topic, aboutBills, `bill|bills|vendor bill|vendor bills|supplier bill|supplier bills|obligation|obligations|payable|payables`},
	{topic, aboutDue, `due|bills to pay|payments due|payment due|upcoming payments|upcoming payment|coming due|coming up|falling due|fall due|falls due|come due|comes due|need to pay|have to pay|has to be paid|have to be paid|how much do we have to pay|how much do we need to pay|how much must we pay|need to be paid|needs to be paid|needs paying|need paying|must pay|must be paid|to be paid|to pay|payable by us|upcoming|got to pay|gotta pay|expected to pay|deadline|deadlines|payment deadline|supposed to pay`},
	{topic, aboutOpen, `open|outstanding|unpaid|not paid|not yet paid|not been paid|havent paid|havent been paid|unsettled|have not paid|have we not paid|still to pay`},
	{topic, aboutOwe, `owe|owes|owing|we owe|accounts payable|ap|ap balance|accounts payable balance|total payables|open payables|outstanding payables|liabilities|creditors|trade payables|trade creditors|unpaid bill|unpaid bills|open bill|open bills|outstanding bill|outstanding bills|payables balance|debt|debts|owe to|owed to|owed by us`},
	{topic, aboutOwed, `owed|owe us|owes us|owed to us|due to us|we owed|are we owed|receivable|receivables|outstanding from|open from|unpaid from|due from|payments due from|owing to us|owing us|still owe us|still owes us|outstanding receivables|open receivables|owed us`},
	{topic, aboutAging, `by age|age bucket|age buckets|by age bucket|aging|ageing|aged|aging report|aging buckets|aging schedule|ageing report|aged debtors|aged receivables|aged receivables report|aged debt|buckets|how old are our receivables|how old are the receivables|ar aging|ar ageing|ar aging report|ar aging buckets|receivables aging|receivables ageing|receivables aging report|aging of receivables|aging of our receivables`},
	{topic, aboutPriority, `in what order should we pay|in which order should we pay|what order should we pay|which order should we pay|order should we pay|should we pay first|should be paid first|should we pay next|should get paid first|should i pay first|priority|priorities|prioritise|prioritize|most urgent first|most urgent|urgent|urgently|pay first|paid first|first to pay|to pay first|in what order|what order|in order of urgency|priority order|in priority order|order of priority`},
	{topic, aboutInvoice, `invoice|invoices|inv|invoice number|invoice no|status of invoice|invoice status`},
	{topic, aboutSpending, `expense|expenses|spend|spent|spending|spends|spendings|expenditure|expenditures|cost|costs|costing|outlay|outlays|blow|blew|outgoings|overheads|disbursements`},
	{topic, aboutRevenue, `revenue|revenues|income|sales|earn|earned|earning|earnings|turnover|takings|top line|topline|brought in|bring in|bringing in|billings|revenue do we make|money did we make|money have we made`},
	{topic, aboutNet, `the net of|the net of money in and money out|net|net cash flow|net cashflow|cash flow|cashflow|cash flows|net cash|net flow|net cash position change|cash flow summary|cashflow summary|cash flow statement|cash movement
		|cash flow positive|cashflow positive|cash positive|net positive|cash flow negative|net negative|in the black|in the red|cash flow in the black
		|more money come in than go out|more money came in than went out|more money coming in than going out|more come in than go out|more came in than went out|more cash come in than go out|more money in than out|more coming in than going out|take in more than we spent|earn more than we spent|spend more than we earned|spend more than we made|bring in more than we spent
		|inflow vs outflow|inflows vs outflows|inflow versus outflow|inflows versus outflows|inflows and outflows|inflow and outflow|money in vs money out|money in versus money out|money in and out|money in and money out|income vs expenses|income versus expenses|income and expenses|revenue vs expenses|revenue versus expenses|revenue vs spending|revenue and expenses|income minus expenses|revenue minus expenses|inflows minus outflows|inflow minus outflow|inflow less outflow|inflows less outflows|income against expenses`},
	{topic, aboutBurn, `how fast are we burning|how fast do we burn|how quickly are we burning|burn|burn rate|burning|burned|net burn|cash burn|burn per month|monthly burn rate|cash burn rate|burning through`},
	{topic, aboutRunway, `runway|cash runway|months of runway|months of cash|months of cash left|how long will our cash last|how long will the cash last|how long will our money last|how long does our cash last|how long can we last|how long do we have|how long until we run out|run out of money|run out of cash|run out of funds|how long until we run out of money|how long until we run out of cash|how many months of runway|how many months of cash|how many months can we last|months left|how long before we run out of money|how long before we run out of cash`},
	{topic, aboutSubscribe, `active subscription|active subscriptions|current subscriptions|subscription|subscriptions|recurring subscriptions|recurring charges|recurring costs|recurring expenses|recurring payments|recurring software|recurring|subscribed|subscribed to|saas subscriptions|software subscriptions`},
	{topic, aboutParty, `risk|risky|risk level|risk rating|how risky|verified|verification|verification status|verified status|unverified|safe|safe to pay|trustworthy|trusted|trust|sanctioned|new vendor|new supplier|new counterparty|new customer|a new vendor|new|background|profile`},
	{topic, aboutBefore, `before|ever|ever pay|ever paid|paid before|previously|in the past`},
	{topic, aboutPolicy, `policy|policies|our policy|payment policy|payment policies|payment rules|rules|approval rules|spending rules|spending policy|allowed|allow|allows|permitted|permit|permits|agents pay on their own|agent pay on its own|agents pay by themselves|agents do on their own|agents spend on their own|agents pay without asking|approval limits|approval limit|approval thresholds|approval policy|limits`},
	{topic, aboutApproval, `approve|approves|approving|approval|approvals|approver|approvers|sign off|signoff|sign off on|need approval|needs approval|require approval|requires approval|without approval|without anyones approval|without a person|without asking|who must approve|authorise|authorize|be approved|to be approved|approved`},
	{topic, aboutWaiting, `waiting for a decision|awaiting a decision|awaiting decision|need a decision|needs a decision|undecided|waiting on approval|waiting on a decision|waiting|awaiting|waiting for approval|wait for approval|waits for approval|awaiting approval|pending approval|pending approvals|waiting for sign off|waiting for us|waiting for me|needs my sign off|need my sign off|needs sign off|needs my approval|need my approval|needs our approval|approval queue|payments need approval|payments are pending approval|outstanding approvals|open approvals|stuck in approval|on my desk|for me to approve`},
	{topic, aboutProposals, `proposal|proposals|proposed|propose|agents propose|agents proposed|agent proposals|agents proposals|agents suggest|agents suggested|agent actions|agents done|agents do|agents been up to|agents been doing|agents have proposed|agents requested|agents ask for|agents asked for`},
	{filler, "", `agent|agents|our agents|the agents`},
	{topic, aboutReconcile, `unreconciled|not reconciled|not been reconciled|not yet reconciled|havent been reconciled|have not been reconciled|havent reconciled|have not reconciled|still to reconcile|need to be reconciled|needs to be reconciled|still need to be reconciled|still needs to be reconciled|need reconciling|needs reconciling|to be reconciled|to reconcile|left to reconcile|waiting to be reconciled|unmatched`},
}

// qualifiers narrow what a question is about.
var qualifiers = []reads{
	{newest, "", `last|latest|most recent|the most recent|newest|recent|most recently|the last|past|last time|the last time`},
	{top, "", `the most money|most money|top|biggest|largest|highest|most|the most|greatest|main|major|number one|no 1|most expensive|costliest|single biggest|single largest|biggest single|largest single|priciest|heaviest`},
	{total, "", `total|totals|all|all of|in total|in all|altogether|overall|add up to|sum up to|the total of|total of|sum of|combined|entire|whole|everything|everyone|everybody`},
	{average, "", `average|averages|avg|mean|on average|typical|typically|usual|usually|normally`},
	{howMany, "", `how many|number of|the number of|count of|count|how often|how many times|many times`},
	{compare, "", `versus|vs|compared|compare|compared to|compared with|comparison|comparing|against|than|relative to|up or down|up|down|changed|change|changes|increase|increased|increasing|decrease|decreased|decreasing|grow|grew|grown|growing|growth|rise|risen|rose|fall|fell|fallen|dropped|drop|go up|gone up|went up|going up|go down|gone down|went down|going down|higher|lower|more|difference|different|differ|differs|delta|difference between|changing|up on|down on|shrink|shrunk`},
	{compare, "prior", `month over month|month on month|mom|quarter over quarter|quarter on quarter|qoq|week over week|week on week|wow|prior period|previous period|the prior period|the period before|period before|the month before|month before|the quarter before|quarter before`},
	{compare, "year", `year over year|year on year|yoy|same month last year|same period last year|same quarter last year|the same month last year|the same period last year|the same quarter last year|a year ago|a year earlier|one year ago|the year before|year before`},
	{why, "", `why|what drove|drove|driver|drivers|driving|what caused|caused|cause|reason|reasons|explain|explains|explanation|movers|mover|what moved|moved the most|what changed|behind`},
	{grouping, ByAccount, `by account|per account|each account|every account|across accounts|across all accounts|for each account|in each account|on each account|in every account|all accounts|all our accounts|broken down by account|split by account`},
	{grouping, "currency", `by currency|per currency|each currency|in each currency|for each currency`},
	{grouping, ByCategory, `category|categories|by category|per category|area|areas|things|thing|by type|type of cost|types of cost|kind of cost`},
	{grouping, ByParty, `counterparty|counterparties|vendor|vendors|supplier|suppliers|merchant|merchants|payee|payees|by vendor|by supplier|by counterparty|per vendor|per supplier|by merchant|by payee|each vendor|each supplier`},
	{grouping, "customer", `customer|customers|client|clients|by customer|by client|per customer|per client|each customer|each client|buyer|buyers|payer|payers`},
	{grouping, ByMonth, `monthly|per month|a month|each month|every month|by month|month by month|months|per calendar month`},
	{grouping, ByWeek, `weekly|per week|a week|each week|every week`},
	{grouping, ByDay, `daily|per day|a day|each day|every day`},
	{detail, "split", `break down|broken down|breakdown|split by|how is|breaks down|distribution`},
	{flow, "inflow", `money received|cash received|inflow|inflows|incoming|money in|inbound|money came in|money come in|money has come in|money coming in|came in|come in|comes in|coming in|receive|received|receiving|take in|taken in|took in|cash came in|cash come in|cash coming in|cash inflow|cash inflows`},
	{flow, "outflow", `outflow|outflows|outgoing|money out|outbound|money went out|money go out|money has gone out|money going out|went out|go out|goes out|going out|gone out|paid out|pay out|cash went out|cash go out|cash out|cash outflow|cash outflows|left the account|left our accounts|money left our accounts`},
	{state, "pending", `pending`}, {state, "posted", `posted`}, {state, "cleared", `cleared`},
	{state, "failed", `failed`}, {state, "reversed", `reversed`}, {state, "disputed", `disputed`},
	{state, "overdue", `overdue|past due|late|past their due date|past the due date|past its due date|behind on|missed|in arrears|havent been paid on time|late on|late with|are we late on|havent paid on time|not paid on time|not been paid on time|have not paid on time|past due date|delinquent`},
	{state, "unused", `unused|not using|not used|not being used|are we not using|dont use|dont we use|no longer use|no longer used|not been charged|not charged|havent been charged|have not been charged|idle|inactive|no longer charged|stopped being charged|not been used|wasted|redundant`},
	{detail, "", `status|state|paid in full|paid yet|settled|when|yet|still|already|outstanding amount|fully|partially|partly|history|issued|sent|send|issue|long|next`},
	{kind, "card", `card|cards|credit card|credit cards|company cards|corporate card|corporate cards`},
	{kind, "bank_checking", `checking|checking account|checking accounts|current account|current accounts|cheque account|chequing account`},
	{kind, "bank_savings", `savings|savings account|savings accounts|saving account|deposit account`},
	{kind, "loan", `loan|loans|loan account|loan accounts`},
	{kind, "line_of_credit", `line of credit|credit line|credit lines`},
	{kind, "onchain", `wallet|wallets|onchain|on chain|crypto|crypto wallet|on chain account|on chain wallet`},
	{kind, "payment_processor", `payment processor|payment processors|processor account`},
	{currency, "USD", `usd|dollar|dollars|us dollar|us dollars|bucks`}, {currency, "EUR", `eur|euro|euros`},
	{currency, "JPY", `jpy|yen`}, {currency, "GBP", `gbp|pound|pounds|pounds sterling|sterling|quid`}, {currency, "USDC", `usdc`},
	{currency, "CHF", `chf|swiss francs`}, {currency, "CAD", `cad|canadian dollars`},
}

// combined are wordings that say several things at once.
var combined = []says{
	{`spend the most on|spent the most on|spend most on|spent most on|spending the most on|spending most on|most of our money go|most of our money going|most of our money goes|most of the money go|most of the money going|most of our cash go|most of our cash going|spend the most money on|spent the most money on|does our money go|is our money going|does the money go|is the money going|did the money go|did our money go`,
		[]reads{{slot: topic, value: aboutSpending}, {slot: top}, {slot: grouping, value: ByCategory}}},
	{`costs us the most|cost us the most|costing us the most`, []reads{{slot: topic, value: aboutSpending}, {slot: top}}},
	{`pay the most|paid the most|paying the most|pay most|paid most|pay the most to|paid the most to|paid the most money|spend the most with|spent the most with|spend the most at|spent the most at|spend most with|spent most with|spent most at`,
		[]reads{{slot: topic, value: aboutSpending}, {slot: top}, {slot: grouping, value: ByParty}}},
	{`paid us the most|pays us the most|pay us the most|brought in the most|bring in the most|brings in the most|paid us most`,
		[]reads{{slot: topic, value: aboutRevenue}, {slot: top}, {slot: grouping, value: "customer"}}},
	{`owe the most|owe the most money|owe the most to|owe most|owe most to|owe the most money to`, []reads{{slot: topic, value: aboutOwe}, {slot: top}, {slot: grouping, value: ByParty}}},
	{`owes us the most|owe us the most|owes us most|owes us the most money|owe us the most money`, []reads{{slot: topic, value: aboutOwed}, {slot: top}, {slot: grouping, value: "customer"}}},
	{`debtors|trade debtors|accounts receivable|ar|ar balance|accounts receivable balance|trade receivables|unpaid customer invoices|unpaid client invoices|open customer invoices|outstanding customer invoices|unpaid sales invoices`,
		[]reads{{slot: topic, value: aboutOwed}, {slot: grouping, value: "customer"}}},
	{`expense category|expense categories|spending category|spending categories|cost category|cost categories|spend category|spend categories|category of expense|category of spending|category of spend|type of expense|types of expense|kind of expense|expense type|expense types|cost centre|cost centres`,
		[]reads{{slot: topic, value: aboutSpending}, {slot: grouping, value: ByCategory}}},
	{`last pay|last paid|last payed|last time we paid|the last time we paid|last time we pay|most recently pay|most recently paid`, []reads{{slot: topic, value: aboutPayments}, {slot: newest}}},
	{`last pay us|last paid us|last time they paid|last time they paid us`, []reads{{slot: topic, value: aboutPaidUs}, {slot: newest}}},
	{`sales invoice|sales invoices|customer invoice|customer invoices|client invoices|outgoing invoices`, []reads{{slot: topic, value: aboutInvoice}, {slot: grouping, value: "customer"}}},
	{`purchase invoice|purchase invoices|supplier invoice|supplier invoices|vendor invoice|vendor invoices|incoming invoices`, []reads{{slot: topic, value: aboutInvoice}, {slot: grouping, value: ByParty}}},
	{`got the most money from us|received the most from us|received the most money from us|got the most from us|got paid the most|was paid the most|were paid the most`, []reads{{slot: topic, value: aboutSpending}, {slot: top}, {slot: grouping, value: ByParty}}},
	{`most on|the most on`, []reads{{slot: top}}},
	{`late paying us|late in paying us|behind on paying us|late to pay us|late with their payments to us|overdue with us`, []reads{{slot: topic, value: aboutOwed}, {slot: state, value: "overdue"}, {slot: grouping, value: "customer"}}},
	{`customers late on|customers are late on|are customers late on|clients late on|customers behind on|are customers behind on`, []reads{{slot: topic, value: aboutOwed}, {slot: state, value: "overdue"}}},
	{`top vendor|top vendors|top supplier|top suppliers|biggest vendor|biggest vendors|biggest supplier|biggest suppliers|largest vendor|largest vendors|largest supplier|largest suppliers`, []reads{{slot: top}, {slot: grouping, value: ByParty}}},
	{`card spend|card spending`, []reads{{slot: topic, value: aboutSpending}, {slot: kind, value: "card"}}},
	{`average transaction size|transaction size|average payment size|average transaction`, []reads{{slot: average}, {slot: topic, value: aboutMoves}}},
	{`are we late on any payments|late on any payments|late on any bills|are we behind on any bills|behind on any bills|behind on any payments`, []reads{{slot: topic, value: aboutBills}, {slot: state, value: "overdue"}}},
}

// synonymsOfCategories are words for a category, by the words of its usual name.
var synonymsOfCategories = map[string]string{
	"payroll":               `payroll|salary|salaries|wage|wages|staff costs|staff cost|employee|employees|staff|personnel|personnel costs|compensation|paychecks|paycheques`,
	"taxes":                 `tax|taxes|taxation|vat|tax payment|tax payments|income tax|income taxes|payroll tax|payroll taxes|corporate tax|corporation tax|sales tax`,
	"rent":                  `rent|rents|rental|landlord|office rent`,
	"software":              `software|saas|software tools|software licences|software licenses|apps|tooling`,
	"cloud":                 `cloud|cloud hosting|cloud services|cloud infrastructure|infrastructure|infra`,
	"travel":                `travel|travelling|traveling|trips|business travel|travel and expenses`,
	"meals":                 `meal|meals|food|restaurants|dining|meals and entertainment`,
	"marketing":             `marketing|advertising|ads|ad spend|adverts|advertisement`,
	"insurance":             `insurance|insurances|insurance premiums|insurance premium`,
	"utilities":             `utilities|utility|utility bills`,
	"bank fees":             `bank fees|bank fee|bank charges|bank charge|banking fees|bank costs`,
	"contractors":           `contractor|contractors|freelancer|freelancers|subcontractors|contract staff`,
	"professional services": `professional services|professional fees|legal and professional|professional service|consultants`,
	"recruiting":            `recruiting|recruitment|hiring|hiring costs|recruiters`,
	"equipment":             `equipment|hardware|laptops|computers|it equipment`,
	"office":                `office|office supplies|office costs|stationery|supplies`,
	"hosting":               `hosting|server hosting|servers`,
	"interest":              `interest|interest income|bank interest`,
	"refund":                `refund|refunds|refunded`,
	"bounties":              `bounty|bounties`,
}

// typesOfCategories are the types of obligations that categories are owed as.
var typesOfCategories = map[string]string{"payroll": "payroll", "taxes": "tax", "rent": "rent"}
