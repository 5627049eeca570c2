/**
 * The rules of the API reference that TypeDoc does not check: every export of an entry point and every public member
 * has a description. Every parameter has a description, too, unless its name and type are sufficient.
 */
import path from "node:path";
import { ReflectionKind } from "typedoc";
import { isGenerated } from "./pages.mjs";

const described = new Set([
  ReflectionKind.Namespace,
  ReflectionKind.Enum,
  ReflectionKind.EnumMember,
  ReflectionKind.Variable,
  ReflectionKind.Function,
  ReflectionKind.Class,
  ReflectionKind.Interface,
  ReflectionKind.Constructor,
  ReflectionKind.Property,
  ReflectionKind.Method,
  ReflectionKind.Accessor,
  ReflectionKind.TypeAlias,
]);

/**
 * Returns one line for each violation, sorted, with its location and the missing part.
 *
 * @param project the project as TypeDoc has read it
 * @param folder the folder of the package, to which file names are relative
 */
export function violations(project, folder) {
  const found = [];
  const complain = (reflection, text) => found.push(`${placeOf(reflection, folder)}: ${nameOf(reflection)} ${text}`);
  for (const entry of project.children ?? []) {
    if (!hasText(entry.comment))
      complain(entry, "has no description: start its file with a comment that ends in @module");
    for (const child of entry.children ?? []) visit(child, complain);
  }
  return [...new Set(found)].sort();
}

function visit(reflection, complain, outer) {
  if (isDescribedElsewhere(reflection)) return;
  const signatures = signaturesOf(reflection);
  if (described.has(reflection.kind) && !isDescribed(reflection, signatures) && !isNamedBy(outer, reflection)) {
    complain(reflection, "has no description");
  }
  for (const signature of signatures) {
    for (const parameter of signature.parameters ?? []) {
      if (!hasText(parameter.comment) && !speaksForItself(parameter.type) && !isNamedBy(reflection.parent, parameter)) {
        complain(reflection, `does not describe its parameter ${parameter.name}`);
      }
    }
  }
  for (const child of membersOf(reflection)) if (!isGenerated(child)) visit(child, complain, reflection);
}

/**
 * Members of a base class are checked in the base class. Members of JavaScript's own classes, such as Error.name, need
 * no description.
 */
function isDescribedElsewhere({ inheritedFrom, overwrites, flags, kind, signatures }) {
  const overwritesWellKnown = overwrites !== undefined && overwrites.reflection === undefined;
  const isImplicit = kind === ReflectionKind.Constructor && signatures?.[0]?.sources === undefined;
  return inheritedFrom !== undefined || overwritesWellKnown || isImplicit || flags.isExternal;
}

/**
 * Returns whether the comment of the containing declaration names a member or parameter in backticks. A class can
 * describe a parameter that many of its methods have, and a property the members of an object without a named type.
 */
function isNamedBy(outer, { name }) {
  return (outer?.comment?.summary ?? []).some(({ kind, text }) => kind === "code" && text === `\`${name}\``);
}

/** Returns the signatures of a function, a method or a constructor, or of a property that is a function. */
function signaturesOf(reflection) {
  const own = reflection.signatures ?? [];
  const ofType = reflection.type?.type === "reflection" ? (reflection.type.declaration.signatures ?? []) : [];
  return [...own, ...ofType];
}

function membersOf(reflection) {
  const ofType = reflection.type?.type === "reflection" ? (reflection.type.declaration.children ?? []) : [];
  return [...(reflection.children ?? []), ...ofType];
}

/** Returns whether a reflection has a description. An overload needs none if another overload has one. */
function isDescribed(reflection, signatures) {
  const accessors = [reflection.getSignature, reflection.setSignature].filter((signature) => signature !== undefined);
  return [reflection, ...signatures, ...accessors].some(({ comment }) => hasText(comment));
}

/** Returns whether a comment has text. For a function, a `@returns` tag is sufficient. */
function hasText(comment) {
  const returns = comment?.getTag("@returns")?.content ?? [];
  return [...(comment?.summary ?? []), ...returns].some(({ text }) => /\w/.test(text));
}

/**
 * Returns whether a type needs no description at the parameter. A named type has its own description. A number needs
 * its unit and range, a string its form, and a boolean its meaning.
 */
function speaksForItself(type) {
  switch (type?.type) {
    case "intrinsic":
      return !["number", "bigint", "string", "boolean"].includes(type.name);
    case "union":
      return type.types.every(speaksForItself);
    case "array":
      return speaksForItself(type.elementType);
    case "optional":
    case "rest":
      return speaksForItself(type.elementType);
    case "typeOperator":
      return speaksForItself(type.target);
    default:
      return true;
  }
}

function nameOf(reflection) {
  return reflection.getFriendlyFullName().replaceAll(".__type", "");
}

function placeOf(reflection, folder) {
  const [source] = reflection.sources ?? reflection.signatures?.[0]?.sources ?? reflection.getSignature?.sources ?? [];
  return source === undefined ? "?" : `${path.relative(folder, source.fullFileName)}:${source.line}`;
}
