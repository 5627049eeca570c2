/**
 * Layouts of the syntax of generated code: calls, object and array literals, parameters, object types, tuples, unions,
 * type arguments. Each is divided into lines like the formatter divides it.
 */
import {
  type ArgumentSyntax,
  broken,
  type Code,
  choice,
  fill,
  group,
  hardline,
  huggedOrBroken,
  ifBroken,
  indent,
  indentIf,
  isSequence,
  join,
  lazy,
  line,
  mustBreak,
  softline,
  ungrouped,
} from "./code.js";
import type { CodeName } from "./name.js";

const separator: Code = [",", line];

/** `(a, b)`: arguments or parameters. Each gets its own line if they do not fit. */
export function parenthesized(items: readonly Code[]): Code {
  if (items.length === 0) return "()";
  return group(["(", indent([softline, join(separator, items)]), ifBroken(","), softline, ")"]);
}

/**
 * `(a: A, b: B): R` of a function or a method. `hug` means that the only parameter has an object type. The parentheses
 * then stay beside its braces when the object type is broken.
 */
export function signature(parameters: readonly Code[], result: Code, hug = false): Code {
  if (parameters.length === 0) return ["(): ", result];
  const list = hug
    ? ["(", parameters, ")"]
    : ["(", indent([softline, join(separator, parameters)]), ifBroken(","), softline, ")"];
  const together = group([list, ": ", result]);
  if (parameters.length > 1) return together;
  // If an object type in the result is broken anyway, a single parameter stays on its line.
  return choice(together, [group(list), ": ", result], (printed) => /\):\s[\s\S]*\{$/m.test(printed));
}

/** `<T>(a: A) => R` as a type. `head` contains the type parameters. */
export function functionType(head: Code, parameters: readonly Code[], result: Code): Code {
  const list = ["(", indent([softline, join(separator, parameters)]), ifBroken(","), softline, ")"];
  return [head, group([list, " => ", result])];
}

/**
 * A call: `callee(a, b)`. If it does not fit, a last argument that is an object literal, an array literal or an `arrow`
 * keeps its bracket on the line of the call, provided that the rest fits. If several arguments are functions, each
 * argument gets its own line.
 */
export function call(callee: Code, args: readonly Code[]): Code {
  let functions = 0;
  let calls = 0;
  for (const arg of args) {
    const { role } = syntaxOf(arg);
    if (role === "function") functions++;
    if (role === callWithFunction.role) calls++;
  }
  const composed = args.length > 1 && (functions > 1 || calls > 0);
  const syntax = functions > 0 ? callWithFunction : plainCall;
  const layout = () => group([callee, composed ? broken(ungrouped(parenthesized(args))) : argumentList(args)]);
  return lazy([callee, "(", join(", ", args), ")"], composed, layout, syntax);
}

const plainCall: ArgumentSyntax = { role: "call" };
const callWithFunction: ArgumentSyntax = { role: "call with a function" };

function argumentList(args: readonly Code[]): Code {
  const last = args.at(-1);
  const before = args.slice(0, -1);
  const hugged = last === undefined ? undefined : syntaxOf(last).hugged;
  const previous = syntaxOf(before.at(-1) ?? "");
  // An object keeps its brace on that line unless another object precedes it.
  const isObject = syntaxOf(last ?? "").literal === "object";
  const alike = isObject
    ? previous.literal === "object"
    : previous.hugged !== undefined || previous.role === "function";
  if (last === undefined || hugged === undefined || alike || before.some(mustBreak)) return parenthesized(args);
  const around = (code: Code): Code => ["(", before.map((arg) => [arg, ", "]), code, ")"];
  const lead: Code = isObject ? ["(", before.map((arg) => [arg, ", "]), "{"] : "";
  return huggedOrBroken(around(last), around(hugged()), broken(ungrouped(parenthesized(args))), lead);
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function syntaxOf(code: Code): ArgumentSyntax {
  if (typeof code === "string" || isSequence(code) || (code.kind !== "group" && code.kind !== "lazy")) return none;
  return code.syntax ?? none;
}

const none: ArgumentSyntax = {};

/**
 * `head => body` with a body that is neither a block nor an object literal. The body gets its own line if it does not
 * fit.
 */
export function arrow(head: Code, body: Code): Code {
  const start: Code = [head, " =>"];
  const content: Code = [start, group(indent([line, body]))];
  if (!syntaxOf(body).role?.startsWith("call")) return group(content, { role: "function" });
  return group(content, { role: "function", hugged: () => broken([start, indent([line, body]), ",", softline]) });
}

/** `head => ({ … })`. */
export function arrowToObject(head: Code, object: Code): Code {
  const start: Code = [head, " => ("];
  const hugged = (): Code => [start, syntaxOf(object).hugged?.() ?? object, ")"];
  return group([start, object, ")"], { hugged, role: "function" });
}

/** `head => […]`. */
export function arrowToList(head: Code, list: Code): Code {
  return group([head, " => ", list], { role: "function" });
}

/** `{ a: 1, b }`, on one line if it fits. */
export function objectLiteral(entries: readonly Code[]): Code {
  if (entries.length === 0) return "{}";
  const hugged = lazily(() => broken(["{", indent([line, join(separator, entries)]), ifBroken(","), line, "}"]));
  return lazy(["{ ", join(", ", entries), " }"], false, hugged, { hugged, literal: "object" });
}

/** An object literal with every entry on its own line. */
export function tallObjectLiteral(entries: readonly Code[]): Code {
  if (entries.length === 0) return "{}";
  const content: Code = ["{", indent([hardline, join([",", hardline], entries)]), ",", hardline, "}"];
  return broken(content, { hugged: () => broken(content), literal: "object" });
}

/** `[a, b]`: an array literal or a tuple type. */
export function bracketed(items: readonly Code[]): Code {
  if (items.length === 0) return "[]";
  const hugged = lazily(() => broken(["[", indent([softline, join(separator, items)]), ifBroken(","), softline, "]"]));
  return lazy(["[", join(", ", items), "]"], false, hugged, { hugged, literal: "array" });
}

/** An array of number literals, with as many on each line as fit. */
export function numberArray(items: readonly string[]): Code {
  return group(["[", indent([softline, fill(items)]), ifBroken(","), softline, "]"]);
}

/** `{ a: string; b?: number }`: an object type. */
export function objectType(members: readonly Code[]): Code {
  return group(["{", indent([line, join([";", line], members)]), ifBroken(";"), line, "}"]);
}

/** `a | b`, with one variant per line if they do not fit. */
export function union(variants: readonly Code[]): Code {
  if (variants.length === 1) return variants[0] as Code;
  return group(indent([softline, barred(variants)]));
}

/** A union that is a type argument or the only element of a tuple. */
export function unionArgument(variants: readonly Code[]): Code {
  return variants.length === 1 ? (variants[0] as Code) : group(barred(variants));
}

/** A union that is one of several elements of a tuple. */
export function unionElement(variants: readonly Code[]): Code {
  if (variants.length === 1) return variants[0] as Code;
  return group([indent([ifBroken(["(", softline]), barred(variants)]), softline, ifBroken(")")]);
}

/** `(a | b)`, for use before an operator. */
export function parenthesizedUnion(variants: readonly Code[]): Code {
  return group(["(", indent([softline, barred(variants)]), softline, ")"]);
}

function barred(variants: readonly Code[]): Code {
  return [ifBroken("| "), join([line, "| "], variants.map(indent))];
}

/** `name<a, b>`. A single argument that is `simple`, which is a name or an object type, never gets its own line. */
export function generic(name: Code, args: readonly Code[], simple = false): Code {
  if (args.length === 0) return name;
  if (args.length === 1 && simple) return [name, "<", args[0] as Code, ">"];
  return [name, group(["<", indent([softline, join(separator, args)]), softline, ">"])];
}

/** `Order.Line`: a qualified name that begins with `root`. */
export function qualified(root: CodeName, rest: string): Code {
  return [root, `.${rest}`];
}

/** Returns whether code is a name, qualified or not. A name is never broken. */
export function isNameCode(code: Code): boolean {
  if (typeof code === "string") return true;
  if (!isSequence(code)) return code.kind === "import" || code.kind === "global" || code.kind === "local";
  const [root = "", rest, ...others] = code;
  return others.length === 0 && typeof rest === "string" && rest.startsWith(".") && isNameCode(root);
}

/** `key: value` in an object literal. */
export function property(key: Code, value: Code): Code {
  return lazy([key, ": ", value], false, () => {
    const gap = group(indent(line));
    return group([key, ":", gap, indentIf(gap, value)]);
  });
}

/** `const { a, b: c } = value;`. A pattern with renamed properties is broken before the code after `=`. */
export function destructuring(properties: readonly Code[], value: Code): Code {
  const pattern: Code = ["const ", objectLiteral(properties)];
  const isBelow = (printed: string) => / =\n/.test(printed) && properties.length > 2 && printed.includes(": ");
  return choice([assignment(pattern, value), ";"], [pattern, " = ", value, ";"], isBelow);
}

/** `if (test) statement`, with the statement on the next line if it does not fit. */
export function ifStatement(test: Code, statement: Code): Code {
  const layout = () => group(["if (", test, ")", indent([line, statement])]);
  return lazy(["if (", test, ") ", statement], false, layout);
}

/** `test ? yes : no`. */
export function conditional(test: Code, yes: Code, no: Code): Code {
  return group([test, indent([line, "? ", yes, line, ": ", no])]);
}

/** `left =` and a `right` that moves to the next line as a whole: a conditional whose test is a comparison. */
export function assignmentBelow(left: Code, right: Code): Code {
  return group([left, " =", group(indent([line, right]))]);
}

/** `left =` and `right`, which moves to the next line if not even its beginning fits. */
export function assignment(left: Code, right: Code): Code {
  return lazy([left, " = ", right], false, () => {
    const gap = group(indent(line));
    return group([left, " =", gap, indentIf(gap, right)]);
  });
}
