// Package edge is where an event becomes a request and an answer becomes a
// response: the shapes Lambda is invoked with, CORS, the HTTP rungs of the
// ladder, challenges and discovery documents.
package edge

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-lambda-go/events"
)

// request is an HTTP request whatever event brought it.
type request struct {
	method, path string
	query        url.Values
	header       http.Header
	host         string
	body         []byte
	bodyErr      error // the body was to be base64 and is not
}

// response is an HTTP response before it takes an event's shape.
type response struct {
	status int
	header http.Header
	body   []byte
}

// encoder writes a response in the shape of the event it answers.
type encoder func(response) ([]byte, error)

// event is what is read of an event, whatever its shape: one pass does, where
// looking at the shape first would parse every body twice.
type event struct {
	RawPath        string `json:"rawPath"` // format 2.0
	RawQueryString string `json:"rawQueryString"`

	HTTPMethod      string              `json:"httpMethod"` // the others
	Path            string              `json:"path"`
	Query           map[string]string   `json:"queryStringParameters"`
	MultiValueQuery map[string][]string `json:"multiValueQueryStringParameters"`

	Headers           map[string]string   `json:"headers"`
	MultiValueHeaders map[string][]string `json:"multiValueHeaders"`
	Body              string              `json:"body"`
	IsBase64Encoded   bool                `json:"isBase64Encoded"`
	RequestContext    struct {
		ELB  *struct{} `json:"elb"`
		HTTP *struct {
			Method string `json:"method"`
		} `json:"http"`
		Stage      string `json:"stage"`
		DomainName string `json:"domainName"`
	} `json:"requestContext"`
}

// decode recognizes the event's shape by the members only that shape has:
// function URLs and HTTP APIs send format 2.0, ALBs name their target group,
// REST APIs (and HTTP APIs set to format 1.0) name the resource.
func decode(raw []byte) (request, encoder, error) {
	var ev event
	if err := json.Unmarshal(raw, &ev); err != nil {
		return request{}, nil, fmt.Errorf("decode event: %w", err)
	}
	switch {
	case ev.RequestContext.HTTP != nil:
		return ev.decodeV2(), encodeV2, nil
	case ev.RequestContext.ELB != nil:
		// A target group with multi-value headers switched on ignores the single
		// ones of the response, and the other way round.
		return ev.decodeV1(), encodeALB(ev.MultiValueHeaders != nil), nil
	case ev.HTTPMethod != "":
		return ev.decodeV1(), encodeV1, nil
	}
	return request{}, nil, errors.New("decode event: neither of an HTTP API, a function URL, a REST API nor a load balancer")
}

// decodeV2 reads format 2.0.
func (ev *event) decodeV2() request {
	path := ev.RawPath
	if stage := ev.RequestContext.Stage; stage != "" && stage != "$default" {
		path = strings.TrimPrefix(path, "/"+stage)
	}
	query, err := url.ParseQuery(ev.RawQueryString)
	if err != nil {
		query = url.Values{}
	}
	req := request{method: ev.RequestContext.HTTP.Method, path: path, query: query, header: headerOf(ev.Headers, nil)}
	req.read(ev)
	return req
}

// decodeV1 reads format 1.0, which load balancers send too, without a domain.
func (ev *event) decodeV1() request {
	req := request{
		method: ev.HTTPMethod, path: ev.Path,
		query:  valuesOf(ev.Query, ev.MultiValueQuery),
		header: headerOf(ev.Headers, ev.MultiValueHeaders),
	}
	req.read(ev)
	return req
}

// read takes the body and the host of an event.
func (r *request) read(ev *event) {
	r.body = []byte(ev.Body)
	if ev.IsBase64Encoded {
		r.body, r.bodyErr = base64.StdEncoding.DecodeString(ev.Body)
	}
	if r.host = r.header.Get("Host"); r.host == "" {
		r.host = ev.RequestContext.DomainName
	}
}

// headerOf joins the two forms in which an event holds headers; where both name
// one, the one with all its values counts. A name that came in two spellings
// keeps the values of both: dropping one would be dropping it by chance.
func headerOf(single map[string]string, multi map[string][]string) http.Header {
	header := http.Header{}
	for name, value := range single {
		header.Add(name, value)
	}
	for name := range multi {
		header.Del(name)
	}
	for name, values := range multi {
		for _, value := range values {
			header.Add(name, value)
		}
	}
	return header
}

func valuesOf(single map[string]string, multi map[string][]string) url.Values {
	values := url.Values{}
	for name, value := range single {
		values.Set(name, value)
	}
	for name, list := range multi {
		values[name] = list
	}
	return values
}

// value returns a header's one value without outer blanks. A header that came
// several times is one value joined by commas, as a gateway would have sent it:
// it then equals nothing that is expected of it.
func (r request) value(name string) string {
	return strings.TrimSpace(strings.Join(r.header.Values(name), ","))
}

func encodeV2(res response) ([]byte, error) {
	return json.Marshal(events.APIGatewayV2HTTPResponse{StatusCode: res.status, Headers: flat(res.header), Body: string(res.body)})
}

func encodeV1(res response) ([]byte, error) {
	return json.Marshal(events.APIGatewayProxyResponse{StatusCode: res.status, MultiValueHeaders: res.header, Body: string(res.body)})
}

func encodeALB(multi bool) encoder {
	return func(res response) ([]byte, error) {
		out := events.ALBTargetGroupResponse{
			StatusCode: res.status, StatusDescription: fmt.Sprintf("%d %s", res.status, http.StatusText(res.status)), Body: string(res.body),
		}
		if multi {
			out.MultiValueHeaders = res.header
		} else {
			out.Headers = flat(res.header)
		}
		return json.Marshal(out)
	}
}

func flat(header http.Header) map[string]string {
	out := make(map[string]string, len(header))
	for name, values := range header {
		out[name] = strings.Join(values, ", ")
	}
	return out
}
