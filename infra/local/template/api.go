package template

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// integration is what stands behind routes.
type integration struct {
	function string
	timeout  time.Duration
	mapping  map[int]map[string]string
}

// route is a route before its integration is known.
type route struct {
	key, integration string
}

func (r *reader) api(id string, o *object) {
	o.ignore("Name", "Description", "DisableExecuteApiEndpoint", "Tags")
	o.one("ProtocolType", "HTTP")
	if n := o.get("CorsConfiguration"); n != nil {
		r.problem(o.path("CorsConfiguration"), n, "the gateway would answer OPTIONS itself and drop the function's headers")
	}
	if r.ensureAPI().LogicalID != "" {
		r.problem(id, o.node, "a second API: one is understood here")
	}
	r.API.LogicalID = id
}

// ensureAPI returns the API, which its parts may fill before it is read.
func (r *reader) ensureAPI() *API {
	if r.API == nil {
		r.API = &API{}
	}
	return r.API
}

func (r *reader) integration(id string, o *object) {
	o.ignore("Description")
	o.names("ApiId", typeAPI)
	o.one("IntegrationType", "AWS_PROXY")
	o.one("PayloadFormatVersion", "2.0")
	milliseconds := o.number("TimeoutInMillis", 30_000, 50, 30_000)
	r.integrations[id] = integration{
		function: o.names("IntegrationUri", typeFunction),
		timeout:  time.Duration(milliseconds) * time.Millisecond,
		mapping:  r.mapping(o.sub("ResponseParameters")),
	}
}

// mapping reads response parameters. They differ by status, and lie one level
// deeper than one would think.
func (r *reader) mapping(byStatus *object) map[int]map[string]string {
	out := map[int]map[string]string{}
	for _, key := range byStatus.order {
		status, err := strconv.Atoi(key)
		if err != nil || status < 200 || status > 599 {
			r.problem(byStatus.path(key), byStatus.get(key), "want a status from 200 to 599")
			continue
		}
		entry := byStatus.sub(key)
		out[status] = map[string]string{}
		for i, n := range entry.list("ResponseParameters") {
			p := r.object(fmt.Sprintf("%s.ResponseParameters[%d]", entry.where, i), n)
			destination := p.must("Destination")
			if _, twice := out[status][destination]; twice {
				r.problem(p.where, n, "%s is mapped twice for %d", destination, status)
			}
			out[status][destination] = p.must("Source")
			p.done()
		}
		entry.done()
	}
	return out
}

func (r *reader) route(_ string, o *object) {
	o.names("ApiId", typeAPI)
	o.one("AuthorizationType", "", "NONE")
	found := route{key: o.must("RouteKey")}
	target := o.get("Target")
	if target == nil {
		o.missing("Target")
		return
	}
	text, err := r.logical().text(target)
	if err != nil {
		r.problem(o.path("Target"), target, "%v", err)
		return
	}
	name, ok := strings.CutPrefix(text, "integrations/")
	if !ok {
		r.problem(o.path("Target"), target, "%q: want integrations/INTEGRATION", text)
		return
	}
	found.integration = o.resourceOf("Target", name, typeIntegration)
	r.routes = append(r.routes, found)
}

// place adds a route to the API.
func (r *reader) place(found route) {
	behind, ok := r.integrations[found.integration]
	if !ok {
		return // already noted
	}
	api := r.ensureAPI()
	api.Routes = append(api.Routes, Route{found.key, behind.function, behind.timeout, behind.mapping})
}

func (r *reader) stage(_ string, o *object) {
	o.ignore("AccessLogSettings", "AutoDeploy", "Description", "Tags")
	o.names("ApiId", typeAPI)
	api := r.ensureAPI()
	api.Stage = o.must("StageName")
	settings := o.sub("DefaultRouteSettings")
	settings.ignore("DetailedMetricsEnabled")
	api.BurstLimit = settings.number("ThrottlingBurstLimit", 0, 1, 1_000_000)
	if n := settings.get("ThrottlingRateLimit"); n != nil {
		rate, err := strconv.ParseFloat(settings.text("ThrottlingRateLimit"), 64)
		if err != nil || !(rate > 0 && rate < 1e6) {
			r.problem(settings.path("ThrottlingRateLimit"), n, "want a number above 0")
		}
		api.RateLimit = rate
	}
	settings.done()
}
