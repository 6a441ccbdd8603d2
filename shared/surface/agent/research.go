package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/surface/catalog"
)

// maxTopic bounds a topic in bytes: it is a subject, not a document.
const maxTopic = 1000

// depths are how thorough a research may be, each with the message it makes.
// Standard is what an absent depth means.
var depths = []struct{ name, message string }{
	{"brief", "Research %s briefly. Provide a short summary of the essential facts in one paragraph."},
	{"standard", "Research %s. Provide a summary covering the main facts, recent developments, and open questions."},
	{"deep", "Research %s in depth. Provide a comprehensive summary covering recent advances, key players, and practical applications."},
}

// research is the prompt that asks for a summary of a topic.
func research() catalog.Prompt {
	return catalog.Prompt{
		Name: "research", Description: "Research a topic and provide a summary",
		Arguments: []catalog.Argument{
			{Name: "topic", Description: "The topic to research", Required: true},
			{Name: "depth", Description: "Research depth: brief, standard, or deep", Complete: completeDepth},
		},
		Get: func(_ context.Context, _ catalog.Call, arguments map[string]string) (catalog.Messages, error) {
			topic, err := topicOf(arguments["topic"])
			if err != nil {
				return catalog.Messages{}, err
			}
			message, err := messageOf(arguments["depth"])
			if err != nil {
				return catalog.Messages{}, err
			}
			text := catalog.TextBlock(fmt.Sprintf(message, topic))
			return catalog.Messages{Messages: []catalog.Message{{Role: "user", Content: text}}}, nil
		},
	}
}

// topicOf makes one line of a topic: control characters and runs of blanks
// become one blank.
func topicOf(given string) (string, error) {
	topic := strings.Join(strings.FieldsFunc(given, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if topic == "" || len(given) > maxTopic || !utf8.ValidString(given) {
		return "", fault.New(fault.InvalidArgument, "topic: want some text of at most %d bytes.", maxTopic)
	}
	return topic, nil
}

func messageOf(depth string) (string, error) {
	if depth == "" {
		depth = "standard"
	}
	for _, d := range depths {
		if d.name == depth {
			return d.message, nil
		}
	}
	return "", fault.New(fault.InvalidArgument, "depth: want brief, standard or deep, not %.40q.", depth)
}

func completeDepth(_ context.Context, _ catalog.Call, prefix string, _ int) ([]string, error) {
	var names []string
	for _, d := range depths {
		names = append(names, d.name)
	}
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, strings.ToLower(prefix)) }), nil
}
