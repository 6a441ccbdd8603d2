package lambda

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Values of Result.FunctionError.
const (
	// Unhandled is how Lambda flags every error of today's runtimes: a
	// returned error, a panic, an exit, a timeout.
	Unhandled = "Unhandled"
	// Handled is used only where the runtime itself asks for it.
	Handled = "Handled"
)

// Error types the platform gives when the function itself could not speak.
const (
	TypeTimeout  = "Sandbox.Timedout"
	TypeExit     = "Runtime.ExitError"
	TypeTooLarge = "Function.ResponseSizeTooLarge"
)

// ErrClosed is returned by Invoke once the pool is shut down.
var ErrClosed = errors.New("lambda: the pool is closed")

// Result is what the Invoke API answers with status 200: the function ran,
// well or not.
type Result struct {
	// Payload is the function's response, or the error object
	// {"errorMessage","errorType","stackTrace"} where FunctionError is set.
	Payload []byte
	// FunctionError is empty, Unhandled or Handled (X-Amz-Function-Error).
	FunctionError string
	// RequestID is the id the function saw and logged.
	RequestID string
	// Cold tells that a process was started for this invocation.
	Cold bool
	// Duration from hand-over to the function until its answer.
	Duration time.Duration
}

// ServiceError is a refusal by the Lambda service: the function did not run.
type ServiceError struct {
	// Status is the HTTP status of the Invoke API.
	Status int
	// Code is the exception's name, such as TooManyRequestsException.
	Code string
	// Message as Lambda words it.
	Message string
}

// Error gives the code and the message.
func (e *ServiceError) Error() string { return fmt.Sprintf("lambda: %s: %s", e.Code, e.Message) }

// Throttled tells whether err is Lambda's 429: every process is busy.
func Throttled(err error) bool {
	var service *ServiceError
	return errors.As(err, &service) && service.Status == http.StatusTooManyRequests
}

var errThrottled = &ServiceError{
	Status: http.StatusTooManyRequests, Code: "TooManyRequestsException",
	Message: "Rate Exceeded.",
}

// checkPayload refuses what the Invoke API refuses before any function runs.
func checkPayload(payload []byte) error {
	if len(payload) > MaxRequestBytes {
		return &ServiceError{
			Status: http.StatusRequestEntityTooLarge, Code: "RequestTooLargeException",
			Message: fmt.Sprintf("Request must be smaller than %d bytes for the InvokeFunction operation", MaxRequestBytes),
		}
	}
	if !json.Valid(payload) {
		return &ServiceError{
			Status: http.StatusBadRequest, Code: "InvalidRequestContentException",
			Message: "Could not parse request body into json",
		}
	}
	return nil
}

// platformError is a Result for a failure that the function did not report.
func platformError(kind, message string) Result {
	payload, err := json.Marshal(struct {
		Message string `json:"errorMessage"`
		Type    string `json:"errorType"`
	}{message, kind})
	if err != nil {
		panic(err) // two strings always marshal
	}
	return Result{Payload: payload, FunctionError: Unhandled}
}

func timedOut(id string, limit time.Duration) Result {
	return platformError(TypeTimeout,
		fmt.Sprintf("RequestId: %s Error: Task timed out after %.2f seconds", id, limit.Seconds()))
}

func exited(id, state string) Result {
	message := "Runtime exited with error: " + state
	if state == "exit status 0" {
		message = "Runtime exited without providing a reason"
	}
	return platformError(TypeExit, fmt.Sprintf("RequestId: %s Error: %s", id, message))
}
