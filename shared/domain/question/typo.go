package question

// leastTypo is how many bytes a word must have to be taken for another with one
// letter wrong: short words are one letter away from too many.
const leastTypo = 5

// halvesOf are the two halves of a word. A single slip leaves one of them as it
// is, so a search for either finds the name.
func halvesOf(text string) []string {
	runes := []rune(text)
	at := len(runes) / 2
	return []string{string(runes[:at]), string(runes[at:])}
}

// holdsNearly says whether words stand somewhere in others, in a row, with one
// slip in one of them and none in the rest.
func holdsNearly(words, part []string) bool {
	for at := 0; at+len(part) <= len(words); at++ {
		slips := 0
		for i := range part {
			switch {
			case words[at+i] == part[i]:
			case len(part[i]) >= leastTypo && nearly(words[at+i], part[i]):
				slips++
			default:
				slips = 2
			}
		}
		if slips == 1 {
			return true
		}
	}
	return false
}

// nearly says whether one letter changed, added, left out or exchanged with its
// neighbour makes one word of the other.
func nearly(a, b string) bool {
	x, y := []rune(a), []rune(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	if len(y)-len(x) > 1 {
		return false
	}
	at := 0
	for at < len(x) && x[at] == y[at] {
		at++
	}
	if len(x) < len(y) {
		return string(x[at:]) == string(y[at+1:])
	}
	if at == len(x) {
		return false // they are the same
	}
	swapped := at+1 < len(x) && x[at] == y[at+1] && x[at+1] == y[at] && string(x[at+2:]) == string(y[at+2:])
	return swapped || string(x[at+1:]) == string(y[at+1:])
}
