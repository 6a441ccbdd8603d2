// Package engine installs and runs the two engines the local stack stands on:
// dynoxide, which speaks DynamoDB, and anvil, which is an Ethereum chain.
//
// Both are binaries out of npm packages, pinned with their digests by the
// package-lock.json in this folder. Each runs in a process group of its own, is
// told to end when its context does, and cannot outlive this program (on Linux
// not even when that is killed).
//
// What was measured and shapes this package:
//
//   - dynoxide keeps every acknowledged write when it is killed (SIGKILL).
//   - anvil's --state-interval writes its file in place and slowly: at 5,000
//     blocks nine of ten reads found it torn, and anvil does not start with a
//     torn file. So the state is fetched with anvil_dumpState, which takes
//     0.13 s then, and replaces the file as a whole.
//   - anvil keeps a state of each block, 0.35 MB and growing, in the home folder
//     and leaves them there when killed: 7 GB after 20,000 blocks, which at one
//     a second are six hours. --prune-history keeps none (30 MB of memory, no
//     disk), --prune-history N keeps them in memory without an end (1.7 GB).
//     The price: state can be read at `latest` alone. Blocks, receipts, logs and
//     the number of `finalized` are all there.
package engine
