/** Variables in a Dockerfile: `$NAME`, `${NAME}`, `${NAME:-otherwise}` and `${NAME:+then}`. */

const variable = /\\\$|\$(?:(\w+)|\{(\w+)(?::([-+])([^}]*))?\})/g;

/**
 * Replaces variables by their values. `\$` is a dollar sign.
 * @param known the variables of earlier instructions
 * @throws TypeError for a variable of the container image, whose value is not known here
 */
export function expandVariables(text: string, known: Readonly<Record<string, string>>): string {
  return text.replaceAll(variable, (whole, plain?: string, braced?: string, kind?: string, word = "") => {
    if (whole === "\\$") return "$";
    const name = (plain ?? braced)!;
    const value = Object.hasOwn(known, name) ? known[name] : undefined;
    if (kind === "+") return value ? word : "";
    if (kind === "-") return value || word;
    if (value !== undefined) return value;
    throw new TypeError(
      `${whole} is not set by an ENV before it, and its value in the container image is not known; write the value, or set it in a RUN`,
    );
  });
}
