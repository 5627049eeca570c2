/**
 * Layouts of the syntax that generated code uses, each broken into lines as our formatter breaks it: calls, object and
 * array literals, parameters, object types, tuples, unions, type arguments.
 */
import {
  broken,
  type Code,
  choice,
  group,
  hardline,
  ifBroken,
  indent,
  indentIf,
  join,
  line,
  softline,
} from "./layout.js";

const separator: Code = [",", line];

/** `(a, b)`: arguments or parameters, each on its own line if they don't fit. */
export function parenthesized(items: readonly Code[]): Code {
  if (items.length === 0) return "()";
  return group(["(", indent([softline, join(separator, items)]), ifBroken(","), softline, ")"]);
}

/**
 * `(a: A, b: B): R` of a function or a method. `hug`: the only parameter has an object type, whose breaks stand outside
 * any group; the parentheses stay around its braces.
 */
export function signature(parameters: readonly Code[], result: Code, hug = false): Code {
  if (parameters.length === 0) return ["(): ", result];
  const list = hug
    ? ["(", parameters, ")"]
    : ["(", indent([softline, join(separator, parameters)]), ifBroken(","), softline, ")"];
  const together = group([list, ": ", result]);
  if (parameters.length > 1) return together;
  // Where an object type in the result is broken anyway, a lone parameter stays on its line.
  return choice(together, [group(list), ": ", result], (printed) => /\):\s[\s\S]*\{$/m.test(printed));
}

/** A call: `callee(a, b)`. */
export function call(callee: Code, args: readonly Code[]): Code {
  return [callee, parenthesized(args)];
}

/** A call whose last argument keeps its braces on the call's line: `callee(a, {` … `})`. */
export function callHugging(callee: Code, args: readonly Code[]): Code {
  return [callee, "(", join(", ", args), ")"];
}

/** `{ a: 1, b }` on one line if it fits. */
export function objectLiteral(entries: readonly Code[]): Code {
  if (entries.length === 0) return "{}";
  return group(["{", indent([line, join(separator, entries)]), ifBroken(","), line, "}"]);
}

/** An object literal with every entry on its own line. */
export function tallObjectLiteral(entries: readonly Code[]): Code {
  if (entries.length === 0) return "{}";
  return broken(["{", indent([hardline, join([",", hardline], entries)]), ",", hardline, "}"]);
}

/** `[a, b]`: an array literal, or a tuple type. */
export function bracketed(items: readonly Code[]): Code {
  if (items.length === 0) return "[]";
  return group(["[", indent([softline, join(separator, items)]), ifBroken(","), softline, "]"]);
}

/** `{ a: string; b?: number }`: an object type. */
export function objectType(members: readonly Code[]): Code {
  return group(["{", indent([line, join([";", line], members)]), ifBroken(";"), line, "}"]);
}

/** `a | b`, one variant a line if they don't fit. */
export function union(variants: readonly Code[]): Code {
  if (variants.length === 1) return variants[0] as Code;
  return group(indent([softline, barred(variants)]));
}

/** A union as a type argument, or as the only element of a tuple. */
export function unionArgument(variants: readonly Code[]): Code {
  return variants.length === 1 ? (variants[0] as Code) : group(barred(variants));
}

/** A union as one of several elements of a tuple. */
export function unionElement(variants: readonly Code[]): Code {
  if (variants.length === 1) return variants[0] as Code;
  return group([indent([ifBroken(["(", softline]), barred(variants)]), softline, ifBroken(")")]);
}

/** `(a | b)`, for where an operator follows. */
export function parenthesizedUnion(variants: readonly Code[]): Code {
  return group(["(", indent([softline, barred(variants)]), softline, ")"]);
}

function barred(variants: readonly Code[]): Code {
  return [ifBroken("| "), join([line, "| "], variants.map(indent))];
}

/** `name<a, b>`. A single argument that is `simple`, a name or an object type, never stands on a line of its own. */
export function generic(name: Code, args: readonly Code[], simple = false): Code {
  if (args.length === 0) return name;
  if (args.length === 1 && simple) return [name, "<", args[0] as Code, ">"];
  return [name, group(["<", indent([softline, join(separator, args)]), softline, ">"])];
}

/** `key: value` in an object literal. */
export function property(key: Code, value: Code): Code {
  const gap = group(indent(line));
  return group([key, ":", gap, indentIf(gap, value)]);
}

/** `left =` and `right`, which goes to the next line if not even its beginning fits. */
export function assignment(left: Code, right: Code): Code {
  const gap = group(indent(line));
  return group([left, " =", gap, indentIf(gap, right)]);
}
