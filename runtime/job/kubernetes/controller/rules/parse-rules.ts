/**
 * Reads the rules of the controller from YAML or JSON. A file with a mistake allows nothing, so that a rule is never wider than somebody has
 * written it; the fault names the line and the field.
 */

import { describeValue } from "../../../../../shared/text/describe-value.js";
import { errorMessage } from "../../../../../shared/text/error-message.js";
import { LineCounter, parseDocument } from "../../../yaml-text.js";
import { checkNamespace } from "../../manifest/names.js";
import { checkCpus, memoryInBytes } from "../../manifest/quantity.js";
import { furtherOptions, type Rule } from "./rule.js";

/** The rules of a file, or why it has none. */
export type Rules =
  | { readonly rules: readonly Rule[]; readonly fault?: undefined }
  | { readonly rules?: undefined; readonly fault: string };

/** Maximum number of bytes of the file: a ConfigMap has at most as many. */
const longestFile = 1024 * 1024;

type Path = readonly (string | number)[];

/** A field of the file that is not as it must be. */
class FieldFault extends Error {
  readonly path: Path;

  constructor(path: Path, message: string) {
    super(message);
    this.path = path;
  }
}

/** Returns the rules that a text contains, or the fault that it has. */
export function parseRules(text: string): Rules {
  if (text.length > longestFile) return { fault: `it has more than ${longestFile} characters` };
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [error] = document.errors;
  // The first line of the message says what and where; the others quote the file.
  if (error !== undefined) return { fault: `it is not YAML: ${error.message.split("\n")[0]!.replace(/:$/, "")}` };
  /** Returns the line of a field, or that of what should contain it. */
  const lineOf = (path: Path): number => {
    for (let known = path; ; known = known.slice(0, -1)) {
      const node = known.length === 0 ? document.contents : document.getIn(known, true);
      const range = (node as { readonly range?: readonly number[] } | null | undefined)?.range;
      if (range !== undefined) return lines.linePos(range[0]!).line;
      if (known.length === 0) return 1;
    }
  };
  try {
    return { rules: readRules(document.toJS() as unknown) };
  } catch (fault) {
    if (!(fault instanceof FieldFault)) return { fault: `it is not YAML: ${errorMessage(fault)}` };
    const place = fault.path.length === 0 ? "" : `${formatPath(fault.path)}: `;
    return { fault: `line ${lineOf(fault.path)}: ${place}${fault.message}` };
  }
}

/** Returns a path as `[0].allow.hosts`. */
function formatPath(path: Path): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`))
    .join("")
    .replace(/^\./, "");
}

function readRules(value: unknown): Rule[] {
  if (!Array.isArray(value)) throw new FieldFault([], `expected a list of rules, got ${describeValue(value)}`);
  const rules = value.map((rule, index) => readRule(rule, [index]));
  for (const [index, { name }] of rules.entries()) {
    const first = rules.findIndex((other) => other.name === name);
    if (first === index) continue;
    throw new FieldFault([index, "name"], `expected another name than that of rule [${first}], got "${name}"`);
  }
  return rules;
}

function readRule(value: unknown, path: Path): Rule {
  const fields = fieldsOf(value, path, ["name", "who", "allow"]);
  const { name } = fields;
  if (typeof name !== "string" || !/^[\w .:/-]{1,100}$/.test(name)) {
    throw fault([...path, "name"], "1 to 100 letters, digits, spaces and . _ - : /", name);
  }
  return {
    name,
    who: readSubjects(fields["who"], [...path, "who"]),
    allow: readLimits(fields["allow"], [...path, "allow"]),
  };
}

function readSubjects(value: unknown, path: Path): Rule["who"] {
  const fields = fieldsOf(value, path, ["namespaces", "serviceAccounts", "jobs"]);
  const names = (field: string) => patterns(fields[field], [...path, field], ["*"]);
  return {
    namespaces: namespaces(fields["namespaces"], [...path, "namespaces"]),
    serviceAccounts: names("serviceAccounts"),
    jobs: names("jobs"),
  };
}

const limitNames = ["namespaces", "images", "hosts", "jobs", "gpus", "cpus", "memory", "options"] as const;

function readLimits(value: unknown, path: Path): Rule["allow"] {
  const fields = fieldsOf(value, path, limitNames);
  const at = (field: (typeof limitNames)[number]) => [...path, field];
  const { cpus, memory, jobs, gpus = 0 } = fields;
  return {
    namespaces: fields["namespaces"] === undefined ? undefined : namespaces(fields["namespaces"], at("namespaces")),
    images: patterns(fields["images"], at("images")),
    hosts: count(fields["hosts"], at("hosts"), 1),
    jobs: jobs === undefined ? undefined : count(jobs, at("jobs"), 1),
    gpus: count(gpus, at("gpus"), 0),
    cpus:
      cpus === undefined
        ? undefined
        : checked(at("cpus"), "a number above 0 with at most 3 decimals", cpus, () => {
            checkCpus("cpus", cpus);
            return cpus as number;
          }),
    memory:
      memory === undefined
        ? undefined
        : checked(at("memory"), 'bytes or text such as "64GiB"', memory, () => memoryInBytes("memory", memory)),
    options: readOptions(fields["options"] ?? [], at("options")),
  };
}

function readOptions(value: unknown, path: Path): Rule["allow"]["options"] {
  if (!Array.isArray(value)) throw fault(path, "a list of options of Compute", value);
  return value.map((option, index) => {
    const known = furtherOptions.find((name) => name === option);
    if (known !== undefined) return known;
    throw fault([...path, index], `one of ${furtherOptions.join(", ")}`, option);
  });
}

function fieldsOf(value: unknown, path: Path, names: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw fault(path, `an object with ${names.join(", ")}`, value);
  }
  const unknown = Object.keys(value).find((name) => !names.includes(name));
  if (unknown === undefined) return value as Readonly<Record<string, unknown>>;
  throw new FieldFault([...path, unknown], `no rule has such a field; expected one of ${names.join(", ")}`);
}

/** Reads namespaces. They are no patterns, because the permissions of the controller name each of them. */
function namespaces(value: unknown, path: Path): string[] {
  const names = texts(value, path, "a list of namespaces");
  for (const [index, name] of names.entries()) {
    checked([...path, index], "the name of a namespace, and no pattern", name, () => checkNamespace(name));
  }
  return names;
}

function patterns(value: unknown, path: Path, ...defaults: readonly (readonly string[])[]): readonly string[] {
  if (value === undefined && defaults[0] !== undefined) return defaults[0];
  return texts(value, path, 'a list of patterns, such as ["train-*"]');
}

function texts(value: unknown, path: Path, expected: string): string[] {
  if (!Array.isArray(value) || value.length === 0) throw fault(path, expected, value);
  for (const [index, text] of value.entries()) {
    if (typeof text !== "string" || text === "") throw fault([...path, index], "text", text);
  }
  return value as string[];
}

function count(value: unknown, path: Path, least: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= least) return value as number;
  throw fault(path, `a whole number of at least ${least}`, value);
}

/** Returns what a check returns, whose own error does not name the field of the file. */
function checked<T>(path: Path, expected: string, got: unknown, check: () => T): T {
  try {
    return check();
  } catch {
    throw fault(path, expected, got);
  }
}

function fault(path: Path, expected: string, got: unknown): FieldFault {
  return new FieldFault(path, `expected ${expected}, got ${describeValue(got)}`);
}
