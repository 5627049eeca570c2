/**
 * The tags of the schema language: their names, the declarations to which they apply, and the meaning of their values.
 */
import type { EndpointOptions, Reserved, Tags } from "../../model/index.js";
import type { Propagate } from "../../model/schema.js";
import type { SourceComment } from "../type-source.js";
import { type CommentTag, parseComment } from "./comment.js";
import type { FileScope } from "./context.js";
import { nearestName } from "./nearest-name.js";

/** The kind of declaration to which a comment belongs. */
export type TagHolder = "field" | "endpoint" | "type" | "actor" | "task" | "value";

interface TagRule {
  readonly holders: readonly TagHolder[];
  /** The values that the tag takes, in words. */
  readonly expected: string;
  /** The fix that the diagnostic proposes. */
  readonly advice: string;
  isValid(value: string): boolean;
}

/** The largest count of numbers in one range of `@reserved`. */
const widestRange = 1000;

const members: readonly TagHolder[] = ["field", "endpoint"];
const named: readonly TagHolder[] = [...members, "value"];
/**
 * Returns the rule of a tag without a value. Text after the tag is an error: `@idempotent no` would mean the opposite
 * of its text.
 */
function flagTag(name: string, ...holders: readonly TagHolder[]): TagRule {
  const advice = `Write \`@${name}\` without a value, or remove it. Remarks belong on other lines.`;
  return { holders, expected: "no value", advice, isValid: (value) => value === "" };
}

function matching(pattern: RegExp): TagRule["isValid"] {
  return (value) => pattern.test(value);
}

function forExample(tag: string): string {
  return `Write, for example, \`${tag}\`.`;
}

const rules: Readonly<Record<string, TagRule>> = {
  id: { holders: named, expected: "a whole number", advice: forExample("@id 7"), isValid: matching(/^\d+$/) },
  was: { holders: named, expected: "a name", advice: forExample("@was oldName"), isValid: matching(/^\S+$/) },
  retired: flagTag("retired", ...members),
  json: { holders: ["field"], expected: "a name", advice: forExample("@json inJson"), isValid: matching(/^\S+$/) },
  unpacked: flagTag("unpacked", "field"),
  reserved: {
    holders: ["type"],
    expected: `numbers, ranges of up to ${widestRange} numbers, and names`,
    advice: forExample("@reserved 4, 8 to 11, old_name"),
    isValid: (value) =>
      /^(?:\d+(?: to \d+)?|[A-Za-z_]\w*)(?:, ?(?:\d+(?: to \d+)?|[A-Za-z_]\w*))*$/.test(value) &&
      rangesIn(value).every(([first, last]) => last - first < widestRange),
  },
  name: {
    holders: named,
    expected: "a name",
    advice: forExample("@name wire_name"),
    isValid: matching(/^[A-Za-z_][\w.-]*$/),
  },
  concurrent: {
    holders: ["endpoint"],
    expected: "no value, or the maximum number of concurrent messages, from 1",
    advice:
      "Write `@concurrent` for no limit, `@concurrent 8` for eight at once, or remove it. Remarks belong on other lines.",
    isValid: matching(/^([1-9]\d{0,8})?$/),
  },
  idempotent: flagTag("idempotent", "endpoint", "task"),
  timeout: {
    holders: ["endpoint"],
    expected: "a duration of at least 1ms",
    advice: forExample("@timeout 5s"),
    isValid: (value) => /^\d+(\.\d+)?(ms|s|m|h)$/.test(value) && milliseconds(value) >= 1,
  },
  respond: flagTag("respond", "endpoint"),
  reduce: {
    holders: ["endpoint"],
    expected: "sum, min, max, concat or count",
    advice: forExample("@reduce sum"),
    isValid: matching(/^(?:sum|min|max|concat|count)$/),
  },
  propagate: {
    holders: ["endpoint"],
    expected: "no value, or a module and its function that computes shapes",
    advice: forExample("@propagate ../src/shapes.ts#linear"),
    isValid: matching(/^(?:\.{1,2}\/\S+\.[cm]?[jt]s#[\p{L}_$][\p{L}\p{N}_$]*)?$/u),
  },
};

const described: Readonly<Record<TagHolder, string>> = {
  field: "a field",
  endpoint: "an endpoint",
  type: "a type",
  actor: "an actor",
  task: "a task",
  value: "a value of an enum",
};

/**
 * Tags of JSDoc, TSDoc and common tools. They are never reported, even if their spelling is similar to a tag of
 * Viceroy.
 */
const foreignTags = new Set(
  [
    "abstract access alias alpha async augments author beta borrows callback category class classdesc constant constructor",
    "constructs copyright decorator default defaultValue deprecated description desc enum event eventProperty example",
    "experimental export exports extends external file fileoverview final fires function generator global group hidden",
    "hideconstructor ignore implements import inheritDoc inheritdoc inner instance interface internal kind label lends",
    "license link linkcode linkplain listens member memberof method mixes mixin module namespace nullable override",
    "overload overview package packageDocumentation param typeParam template preserve private privateRemarks prop property",
    "protected prototype public readonly remarks requires return returns satisfies sealed see since static summary",
    "syntax this throws exception todo tutorial type typedef var variation version virtual yield yields format minimum",
    "maximum pattern min max units unit note warning range title",
  ].flatMap((line) => line.split(" ")),
);

/** The content of the comment before a member or a declaration. */
export interface ReadTags {
  readonly doc: string;
  readonly tags: Tags;
  readonly options: EndpointOptions;
  readonly wireName?: string;
}

const noTags: ReadTags = {
  doc: "",
  tags: {},
  options: { concurrent: false, idempotent: false, respond: false },
};

/**
 * Reads the comment of a member. A tag in a comment at the end of the member's line is reported, because it would have
 * no effect.
 */
export function readMemberTags(
  {
    comment,
    trailingComment,
  }: { readonly comment: SourceComment | undefined; readonly trailingComment?: SourceComment | undefined },
  holder: TagHolder,
  scope: FileScope,
): ReadTags {
  for (const tag of parseComment(trailingComment, () => false).tags) {
    if (!Object.hasOwn(rules, tag.name)) reportUnknown(tag, scope);
    else
      scope.report(tag, "VC1302", {
        tag: tag.name,
        what: "the code before it",
        where: "the comment before a member",
      });
  }
  return readTags(comment, holder, scope);
}

export function readTags(comment: SourceComment | undefined, holder: TagHolder, scope: FileScope): ReadTags {
  if (comment === undefined) return noTags;
  const { doc, tags } = parseComment(comment, (name) => Object.hasOwn(rules, name));
  if (tags.length === 0) return { ...noTags, doc };
  const known = new Map<string, string>();
  for (const tag of tags) {
    if (!Object.hasOwn(rules, tag.name)) reportUnknown(tag, scope);
    else if (isUsable(tag, holder, known, scope)) known.set(tag.name, tag.value);
  }
  const name = known.get("name");
  const concurrent = known.get("concurrent");
  const timeout = known.get("timeout");
  const reduce = known.get("reduce");
  const propagate = known.get("propagate");
  const reserved = known.get("reserved");
  return {
    doc,
    tags: {
      ...(known.has("id") && { id: Number(known.get("id")) }),
      ...(known.has("was") && { was: known.get("was") as string }),
      ...(known.has("retired") && { retired: true }),
      ...(name !== undefined && { name }),
      ...(known.has("json") && { json: known.get("json") as string }),
      ...(known.has("unpacked") && { unpacked: true }),
      ...(reserved !== undefined && { reserved: reservedOf(reserved) }),
    },
    options: {
      concurrent: concurrent === undefined ? false : concurrent === "" || Number(concurrent),
      idempotent: known.has("idempotent"),
      respond: known.has("respond"),
      ...(timeout !== undefined && { timeout: milliseconds(timeout) }),
      ...(reduce !== undefined && { reduce }),
      ...(propagate !== undefined && { propagate: propagateOf(propagate) }),
    },
    ...(name !== undefined && { wireName: name }),
  };
}

function isUsable(tag: CommentTag, holder: TagHolder, known: ReadonlyMap<string, string>, scope: FileScope): boolean {
  const rule = rules[tag.name] as TagRule;
  if (!rule.holders.includes(holder)) {
    const where = rule.holders.map((other) => described[other]).join(" or ");
    scope.report(tag, "VC1302", { tag: tag.name, what: described[holder], where });
    return false;
  }
  if (known.has(tag.name)) {
    scope.report(tag, "VC1304", { tag: tag.name });
    return false;
  }
  const { expected, advice } = rule;
  if (rule.isValid(tag.value)) return true;
  const value = tag.value === "" ? "nothing" : `"${tag.value}"`;
  scope.report(tag, "VC1303", { tag: tag.name, expected, advice, value });
  return false;
}

/** Returns the ranges and single numbers of a `@reserved` value such as `4, 8 to 11`. Both ends are included. */
function rangesIn(value: string): readonly (readonly [first: number, last: number])[] {
  return [...value.matchAll(/\b(\d+)(?: to (\d+))?/g)].map(([, first, last]) => [Number(first), Number(last ?? first)]);
}

function reservedOf(value: string): Reserved {
  const numbers = rangesIn(value).flatMap(([first, last]) =>
    Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i),
  );
  const names = value
    .split(",")
    .map((part) => part.trim())
    .filter((part) => /^[A-Za-z_]/.test(part));
  return { numbers: [...new Set(numbers)].sort((a, b) => a - b), names: [...new Set(names)].sort() };
}

function propagateOf(value: string): Propagate {
  const [module, name] = value.split("#");
  return module === undefined || name === undefined ? {} : { shapes: { module, name } };
}

function milliseconds(duration: string): number {
  const [, amount = "0", unit = "ms"] = /^([\d.]+)(\w+)$/.exec(duration) ?? [];
  const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
  return Math.round(Number(amount) * (units[unit] ?? 1));
}

/** Reports a tag whose name is similar to a known one. A misspelt tag would be a setting without effect. */
function reportUnknown(tag: CommentTag, scope: FileScope): void {
  if (foreignTags.has(tag.name)) return;
  const near = nearestName(tag.name, Object.keys(rules));
  if (near !== undefined) scope.report(tag, "VC1301", { tag: tag.name, known: near });
}
