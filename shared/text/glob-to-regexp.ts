/** Glob patterns: `*` and `?` in a name, `**` for any number of folders, `{a,b}` and `[a-z]`. */

const special = /[\\^$+.()|]/;

/**
 * Converts a pattern to a regular expression for paths with forward slashes.
 *
 * @param pattern the pattern
 * @param hidden whether `*` and `**` match names that begin with a dot
 */
export function globToRegExp(pattern: string, { hidden = false }: { readonly hidden?: boolean } = {}): RegExp {
  const visible = hidden ? "" : "(?!\\.)";
  let source = "";
  let braces = 0;
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i] as string;
    const whole = i === 0 || pattern[i - 1] === "/";
    if (whole && pattern.startsWith("**/", i)) {
      // Hidden folders do not match, unless the pattern names them.
      source += `(?:${visible}[^/]+/)*`;
      i += 2;
    } else if (char === "*") {
      while (pattern[i + 1] === "*") i++;
      source += whole ? `${visible}[^/]*` : "[^/]*";
    } else if (char === "?") source += "[^/]";
    else if (char === "[") {
      const end = pattern.indexOf("]", i + 2);
      if (end < 0) source += "\\[";
      else {
        source += `[${pattern
          .slice(i + 1, end)
          .replace(/^!/, "^")
          .replaceAll("\\", "\\\\")}]`;
        i = end;
      }
    } else if (char === "{") {
      source += "(?:";
      braces++;
    } else if (char === "}" && braces > 0) {
      source += ")";
      braces--;
    } else if (char === "," && braces > 0) source += "|";
    else source += special.test(char) || char === "]" || char === "}" ? `\\${char}` : char;
  }
  return new RegExp(`^${source}${")".repeat(braces)}$`);
}
