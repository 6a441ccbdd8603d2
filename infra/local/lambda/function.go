package lambda

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits of the Lambda service. They are AWS's numbers, not choices.
const (
	// MaxRequestBytes is the largest payload of a synchronous invocation.
	MaxRequestBytes = 6 << 20
	// MaxResponseBytes is the largest response: 6 MB and 100 bytes of slack.
	MaxResponseBytes = 6<<20 + 100
	// InitTimeout is how long a start may take before it is given up and
	// repeated inside the invocation.
	InitTimeout = 10 * time.Second
	// accountConcurrency is what an account may run at once by default.
	accountConcurrency = 1000
)

// Function describes one function: what template.yaml says of it.
type Function struct {
	// Name as in the function's ARN and AWS_LAMBDA_FUNCTION_NAME.
	Name string
	// Binary is the path of the executable, on AWS always called `bootstrap`.
	Binary string
	// Env holds the function's own variables as KEY=value. Nothing else of the
	// caller's environment reaches the function, since nothing does on AWS;
	// credentials, which AWS provides, belong in here. Names that Lambda sets
	// itself are refused by New.
	Env []string
	// Timeout of one invocation; zero means Lambda's default of 3 s.
	Timeout time.Duration
	// InitTimeout replaces the 10 s allowed for a start; tests shorten it.
	InitTimeout time.Duration
	// IdleTimeout is how long a process that nobody needs is kept warm; zero
	// means 10 min. Lambda says no number.
	IdleTimeout time.Duration
	// MaxProcesses is the reserved concurrency. Zero means none is reserved:
	// the account's 1000.
	MaxProcesses int
	// MemoryMB is only reported to the function; zero means 128.
	MemoryMB int
	// Region and AccountID make the ARN; empty means us-east-1 and
	// 000000000000.
	Region, AccountID string
	// Freeze stops an idle process with SIGSTOP, as Lambda freezes an idle
	// sandbox, so work left running after a response does not go on.
	Freeze bool
	// Log receives what the processes print, whole lines, and one JSON line
	// for each failure of the platform's kind. Nil discards it.
	Log io.Writer
}

// ARN is the function's unqualified Amazon resource name.
func (f Function) ARN() string {
	return fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s", f.Region, f.AccountID, f.Name)
}

// withDefaults fills what was left zero and refuses what cannot run.
func (f Function) withDefaults() (Function, error) {
	if f.Name == "" || f.Binary == "" {
		return f, errors.New("lambda: a function needs a name and a binary")
	}
	binary, err := filepath.Abs(f.Binary)
	if err != nil {
		return f, fmt.Errorf("lambda: find the binary of %s: %w", f.Name, err)
	}
	f.Binary = binary
	for _, entry := range f.Env {
		name, _, found := strings.Cut(entry, "=")
		if !found || reserved(name) {
			return f, fmt.Errorf("lambda: variable %q of %s is reserved or has no value", name, f.Name)
		}
	}
	f.Timeout = orDefault(f.Timeout, 3*time.Second)
	f.InitTimeout = orDefault(f.InitTimeout, InitTimeout)
	f.IdleTimeout = orDefault(f.IdleTimeout, 10*time.Minute)
	f.MaxProcesses = orDefault(f.MaxProcesses, accountConcurrency)
	f.MemoryMB = orDefault(f.MemoryMB, 128)
	f.Region = orDefault(f.Region, "us-east-1")
	f.AccountID = orDefault(f.AccountID, "000000000000")
	if f.Log == nil {
		f.Log = io.Discard
	}
	return f, nil
}

// reserved tells the variables that Lambda sets: a template that sets one is
// refused at deployment, so it is refused here.
func reserved(name string) bool {
	return name == "" || name == "_HANDLER" || name == "_X_AMZN_TRACE_ID" ||
		name == "AWS_REGION" || name == "AWS_DEFAULT_REGION" || name == "AWS_EXECUTION_ENV" ||
		strings.HasPrefix(name, "AWS_LAMBDA_") || strings.HasPrefix(name, "LAMBDA_")
}

// environment is everything the process sees.
func (f Function) environment(api, stream string) []string {
	task := filepath.Dir(f.Binary)
	return append(slices.Clone(f.Env),
		"AWS_LAMBDA_RUNTIME_API="+api,
		"AWS_LAMBDA_FUNCTION_NAME="+f.Name,
		"AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE="+strconv.Itoa(f.MemoryMB),
		"AWS_LAMBDA_INITIALIZATION_TYPE=on-demand",
		"AWS_LAMBDA_LOG_GROUP_NAME=/aws/lambda/"+f.Name,
		"AWS_LAMBDA_LOG_STREAM_NAME="+stream,
		"AWS_REGION="+f.Region,
		"AWS_DEFAULT_REGION="+f.Region,
		"_HANDLER=bootstrap",
		"LAMBDA_TASK_ROOT="+task,
		"LAMBDA_RUNTIME_DIR=/var/runtime",
		"LANG=en_US.UTF-8",
		"TZ=:UTC",
		"PATH=/usr/local/bin:/usr/bin:/bin",
	)
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}
