/**
 * Prints objects as YAML that people can read and `kubectl apply` takes. Text that could mean anything else is in double quotes, whose
 * escapes are those of JSON.
 */

/** Returns a stream of documents. */
export function printDocuments(objects: readonly object[]): string {
  return objects.map((object) => `---\n${printBlock(object, "")}\n`).join("");
}

/** Text that YAML 1.1 and 1.2 read as text without quotes. */
const plainText = /^[A-Za-z/][\w/.-]*$/;
/** Words that readers of YAML 1.1, such as kubectl, take for other values, and exponents, which some of them take for numbers. */
const words = /^(?:y|n|yes|no|on|off|true|false|null|e\d+)$/i;

function printScalar(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  if (plainText.test(value) && !words.test(value)) return value;
  // JSON leaves these three as they are, and YAML does not allow them or ends the line there.
  return JSON.stringify(value).replaceAll(/[\u007f-\u009f\u2028\u2029\ufeff]/g, (char) => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** Returns a value as lines, of which all but the first begin with the indentation. */
function printBlock(value: unknown, indentation: string): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return value.map((entry) => `- ${printBlock(entry, `${indentation}  `)}`).join(`\n${indentation}`);
  }
  if (typeof value !== "object" || value === null)
    return isLines(value) ? printLines(value, indentation) : printScalar(value);
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  if (entries.length === 0) return "{}";
  return entries
    .map(([key, field]) => `${printScalar(key)}:${printField(field, indentation)}`)
    .join(`\n${indentation}`);
}

function printField(field: unknown, indentation: string): string {
  const isNested = typeof field === "object" && field !== null && Object.keys(field).length > 0;
  const inner = Array.isArray(field) ? indentation : `${indentation}  `;
  return isNested ? `\n${inner}${printBlock(field, inner)}` : ` ${printBlock(field, indentation)}`;
}

/** Returns whether text is printed as the lines that it has: programs, for example. */
function isLines(value: unknown): value is string {
  return (
    typeof value === "string" &&
    /^[!-~][ -~\n]*[!-~]\n$/.test(value) &&
    value.includes("\n", 0) &&
    !/ \n|\n\n$/.test(value)
  );
}

function printLines(text: string, indentation: string): string {
  const lines = text.slice(0, -1).split("\n");
  return `|\n${lines.map((line) => (line === "" ? "" : `${indentation}  ${line}`)).join("\n")}`;
}
