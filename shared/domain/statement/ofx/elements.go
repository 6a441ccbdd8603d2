package ofx

import "strings"

// aggregates are the elements that have others in them, each with those it may
// stand in. One that begins where it cannot stand ends what is open before it:
// that is how a missing end tag is made good.
var aggregates = map[string][]string{
	"OFX":            nil,
	"STMTTRNRS":      {"OFX"},
	"CCSTMTTRNRS":    {"OFX"},
	"STATUS":         nil,
	"STMTRS":         {"STMTTRNRS", "OFX"},
	"CCSTMTRS":       {"CCSTMTTRNRS", "OFX"},
	"BANKACCTFROM":   {"STMTRS", "CCSTMTRS"},
	"CCACCTFROM":     {"CCSTMTRS", "STMTRS"},
	"BANKTRANLIST":   {"STMTRS", "CCSTMTRS"},
	"STMTTRN":        {"BANKTRANLIST"},
	"BANKTRANLISTP":  {"STMTRS", "CCSTMTRS"},
	"STMTTRNP":       {"BANKTRANLISTP"},
	"PAYEE":          {"STMTTRN", "STMTTRNP"},
	"BANKACCTTO":     {"STMTTRN", "STMTTRNP"},
	"CCACCTTO":       {"STMTTRN", "STMTTRNP"},
	"CURRENCY":       {"STMTTRN", "STMTTRNP", "BAL"},
	"ORIGCURRENCY":   {"STMTTRN", "STMTTRNP"},
	"IMAGEDATA":      {"STMTTRN", "STMTTRNP"},
	"LEDGERBAL":      {"STMTRS", "CCSTMTRS"},
	"AVAILBAL":       {"STMTRS", "CCSTMTRS"},
	"BALLIST":        {"STMTRS", "CCSTMTRS"},
	"BAL":            {"BALLIST"},
	"SONRS":          {"OFX"},
	"FI":             nil,
	"LOANSTMTRS":     {"OFX"},
	"REWARDINFO":     {"CCSTMTRS", "STMTRS"},
	"STMTENDRS":      {"OFX"},
	"CCSTMTENDRS":    {"OFX"},
	"INVSTMTRS":      {"OFX"},
	"PROFMSGSRSV1":   {"OFX"},
	"SIGNUPMSGSRSV1": {"OFX"},
}

// unread are the sections that are of no use here, by what a note calls them.
var unread = map[string]string{
	"INVSTMTRS":         "an investment statement",
	"INVSTMTMSGSRSV1":   "investment statements",
	"SECLISTMSGSRSV1":   "a list of securities",
	"LOANMSGSRSV1":      "loan statements",
	"BILLPAYMSGSRSV1":   "bill payments",
	"EMAILMSGSRSV1":     "messages of the bank",
	"TAX1099MSGSRSV1":   "tax forms",
	"TAXW2MSGSRSV1":     "tax forms",
	"INTERXFERMSGSRSV1": "transfers between banks",
	"WIREXFERMSGSRSV1":  "wire transfers",
	"PRESDIRMSGSRSV1":   "bills presented",
	"PRESDLVMSGSRSV1":   "bills presented",
	"IMAGEMSGSRSV1":     "images",
	"SIGNUPMSGSRSV1":    "the bank's profile",
	"PROFMSGSRSV1":      "the bank's profile",
	"STMTENDRS":         "a list of closing statements",
	"CCSTMTENDRS":       "a list of closing statements",
	"LOANSTMTRS":        "a loan statement",
	"BANKMAILRS":        "messages of the bank",
	"STPCHKRS":          "stopped cheques",
	"INTRARS":           "transfers",
	"RECINTRARS":        "standing orders",
	"RECPMTRS":          "standing orders",
	"PMTRS":             "payments",
}

// elements are the names that begin a tag even in the middle of a text.
var elements = func() map[string]bool {
	m := map[string]bool{}
	for name := range strings.FieldsSeq(`
		ACCTFROM ACCTID ACCTKEY ACCTTYPE ADDR1 ADDR2 ADDR3 BALAMT BALTYPE BANKID BANKMSGSRSV1 BANKTRNRS BRANCHID
		CHECKNUM CITY CODE CORRECTACTION CORRECTFITID COUNTRY CREDITCARDMSGSRSV1 CURDEF CURRATE CURSYM DESC DTASOF
		DTACCTUP DTAVAIL DTCLIENT DTEND DTPOSTED DTPROFUP DTSERVER DTSTART DTTRAN DTUSER EXTDNAME FID FITID INV401KSOURCE
		LANGUAGE MEMO MEMO2 MESSAGE MKTGINFO NAME ORG PAYEEID PHONE POSTALCODE REFNUM SEVERITY SIC SIGNONMSGSRSV1
		SRVRTID STATE TRNAMT TRNTYPE TRNUID VALUE`) {
		m[name] = true
	}
	for name := range aggregates {
		m[name] = true
	}
	for name := range unread {
		m[name] = true
	}
	return m
}()

// words are the elements whose value is written by people, where a < may begin
// nothing.
var words = map[string]bool{"NAME": true, "MEMO": true, "MEMO2": true, "EXTDNAME": true, "DESC": true, "MESSAGE": true, "ORG": true, "MKTGINFO": true}
