package template

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The types of resources that exist on this machine too.
const (
	typeAPI         = "AWS::ApiGatewayV2::Api"
	typeBucket      = "AWS::S3::Bucket"
	typeBus         = "AWS::Events::EventBus"
	typeFunction    = "AWS::Serverless::Function"
	typeIntegration = "AWS::ApiGatewayV2::Integration"
	typeQueue       = "AWS::SQS::Queue"
	typeRoute       = "AWS::ApiGatewayV2::Route"
	typeRule        = "AWS::Events::Rule"
	typeStage       = "AWS::ApiGatewayV2::Stage"
	typeTable       = "AWS::DynamoDB::Table"
)

// elsewhere are the types that say who may do what and who watches, which only
// AWS can enforce. A type that is in neither list is refused.
var elsewhere = []string{
	"AWS::CloudWatch::Alarm",
	"AWS::CloudWatch::Dashboard",
	"AWS::Events::Archive",
	"AWS::IAM::Role",
	"AWS::IAM::RolePolicy",
	"AWS::KMS::Alias",
	"AWS::KMS::Key",
	"AWS::Lambda::Permission",
	"AWS::Logs::LogGroup",
	"AWS::S3::BucketPolicy",
	"AWS::SQS::QueuePolicy",
	"AWS::SecretsManager::Secret",
}

// reader builds a Template out of its resources.
type reader struct {
	*scope
	Template
	globals      map[string]yaml.Node
	integrations map[string]integration
	routes       []route
	readers      map[string]*Reader // by queue
}

// resource is one entry of Resources.
type resource struct {
	id   string
	kind string
	body *object
}

// read takes the resources in two passes: references need every logical id.
func (r *reader) read(resources yaml.Node) {
	r.integrations, r.readers = map[string]integration{}, map[string]*Reader{}
	all := r.object("Resources", &resources)
	var found []resource
	for _, id := range all.order {
		body := r.object(id, all.get(id))
		found = append(found, resource{id, body.must("Type"), body})
		r.resources[id] = found[len(found)-1].kind
	}
	for _, f := range found {
		r.take(f)
	}
	r.assemble()
}

func (r *reader) take(f resource) {
	if slices.Contains(elsewhere, f.kind) {
		return
	}
	read, known := map[string]func(string, *object){
		typeAPI:         r.api,
		typeBucket:      r.bucket,
		typeBus:         r.bus,
		typeFunction:    r.function,
		typeIntegration: r.integration,
		typeQueue:       r.queue,
		typeRoute:       r.route,
		typeRule:        r.rule,
		typeStage:       r.stage,
		typeTable:       r.table,
	}[f.kind]
	if !known {
		r.problem(f.id+".Type", f.body.node, "%q is not understood here", f.kind)
		return
	}
	f.body.ignore("DeletionPolicy", "UpdateReplacePolicy", "DependsOn", "Metadata")
	properties := r.object(f.id, f.body.get("Properties"))
	if properties.node == nil {
		properties.node = f.body.node
	}
	f.body.done()
	read(f.id, properties)
	properties.done()
}

// assemble joins what is spread over several resources.
func (r *reader) assemble() {
	for _, route := range r.routes {
		r.place(route)
	}
	for i := range r.Queues {
		r.Queues[i].Reader = r.readers[r.Queues[i].LogicalID]
	}
}

// resourceOf judges the text a reference resolved to: a resource of one of the
// types, alone or with its Arn.
func (o *object) resourceOf(key, text string, types ...string) string {
	id := strings.TrimSuffix(text, ".Arn")
	kind, known := o.resources[id]
	if !known || !slices.Contains(types, kind) {
		o.problem(o.path(key), o.values[key], "%q names no resource of the type %s", text, strings.Join(types, " or "))
		return ""
	}
	return id
}

func (r *reader) table(id string, o *object) {
	o.ignore("DeletionProtectionEnabled", "PointInTimeRecoverySpecification", "SSESpecification", "Tags")
	o.one("BillingMode", "PAY_PER_REQUEST")
	types := map[string]string{}
	for i, n := range o.list("AttributeDefinitions") {
		a := o.object(fmt.Sprintf("%s.AttributeDefinitions[%d]", id, i), n)
		types[a.must("AttributeName")] = a.text("AttributeType")
		a.one("AttributeType", "S", "N", "B")
		a.done()
	}
	t := Table{LogicalID: id, Name: o.text("TableName"), Key: r.key(o, types)}
	for i, n := range o.list("GlobalSecondaryIndexes") {
		index := o.object(fmt.Sprintf("%s.GlobalSecondaryIndexes[%d]", id, i), n)
		t.Indexes = append(t.Indexes, Index{index.must("IndexName"), r.key(index, types)})
		projection := index.sub("Projection")
		projection.one("ProjectionType", "ALL")
		projection.done()
		index.done()
	}
	ttl := o.sub("TimeToLiveSpecification")
	if attribute := ttl.text("AttributeName"); ttl.text("Enabled") == "true" {
		t.TTL = attribute
	}
	ttl.done()
	r.Tables = append(r.Tables, t)
}

// bucket reads a bucket. Who may read it, how it is encrypted and what becomes
// of old versions only AWS can enforce.
func (r *reader) bucket(id string, o *object) {
	o.ignore("BucketEncryption", "LifecycleConfiguration", "OwnershipControls", "PublicAccessBlockConfiguration", "Tags", "VersioningConfiguration")
	r.Buckets = append(r.Buckets, Bucket{id, o.text("BucketName")})
}

// key reads a KeySchema: the partition key and, perhaps, a sort key.
func (r *reader) key(o *object, types map[string]string) Key {
	var parts []Attribute
	elements := o.list("KeySchema")
	if len(elements) < 1 || len(elements) > 2 {
		o.problem(o.path("KeySchema"), o.node, "want one or two keys, there are %d", len(elements))
		return Key{}
	}
	for i, n := range elements {
		e := o.object(fmt.Sprintf("%s[%d]", o.path("KeySchema"), i), n)
		name := e.must("AttributeName")
		e.one("KeyType", []string{"HASH", "RANGE"}[i])
		e.done()
		if types[name] == "" {
			o.problem(e.where, n, "attribute %q is not in AttributeDefinitions", name)
		}
		parts = append(parts, Attribute{name, types[name]})
	}
	return Key{parts[0], append(parts, Attribute{})[1]}
}
