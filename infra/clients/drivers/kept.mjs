// What the checks of one client keep of results for later ones (see
// checks/checks.go).
const kept = {};

/** The check with what was kept in place of its names. */
export function filled(check) {
  const args = JSON.stringify(check.arguments ?? {}).replace(/"\$(\w+)"/g, (_, name) => JSON.stringify(kept[name] ?? name));
  return { ...check, arguments: JSON.parse(args) };
}

/** Keeps what later checks want of a result. */
export function keep(check, result) {
  for (const [name, pattern] of Object.entries(check.keep ?? {})) {
    const found = result.match(pattern);
    if (found) kept[name] = found[0];
  }
}
