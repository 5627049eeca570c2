/**
 * Prints the import statements of a file: one per module, without duplicates, in the organizer's order, with types
 * marked.
 */
import { type Code, group, ifBroken, indent, join, line } from "./code.js";
import { compareNames, compareSpecifiers } from "./import-order.js";
import { type ImportExtension, relativeSpecifier } from "./import-specifier.js";
import { stringLiteral } from "./literals.js";
import type { CodeName, ImportedName } from "./name.js";

interface Specifier {
  readonly name: string;
  readonly spelling: string;
  readonly typeOnly: boolean;
}

/**
 * Returns one statement for each module of `names`.
 * @param file the path of the importing file
 * @param extension the extension of imported TypeScript files
 */
export function importStatements(
  file: string,
  names: readonly ImportedName[],
  spell: (name: CodeName) => string,
  extension: ImportExtension,
): readonly Code[] {
  const modules = new Map<string, Map<string, Specifier>>();
  for (const name of names) {
    const from = typeof name.from === "string" ? name.from : relativeSpecifier(file, name.from.file, extension);
    const specifiers = modules.get(from) ?? new Map<string, Specifier>();
    modules.set(from, specifiers);
    const typeOnly = name.typeOnly && (specifiers.get(name.name)?.typeOnly ?? true);
    specifiers.set(name.name, { name: name.name, spelling: spell(name), typeOnly });
  }
  return [...modules]
    .sort(([a], [b]) => compareSpecifiers(a, b))
    .map(([from, specifiers]) => importStatement(from, [...specifiers.values()]));
}

function importStatement(from: string, specifiers: readonly Specifier[]): Code {
  const allTypes = specifiers.every((specifier) => specifier.typeOnly);
  const parts = [...specifiers]
    .sort((a, b) => compareNames(a.spelling, b.spelling))
    .map(({ name, spelling, typeOnly }) => {
      const renamed = name === spelling ? name : `${name} as ${spelling}`;
      return typeOnly && !allTypes ? `type ${renamed}` : renamed;
    });
  const list =
    parts.length === 1
      ? `{ ${parts[0]} }`
      : group(["{", indent([line, join([",", line], parts)]), ifBroken(","), line, "}"]);
  return [allTypes ? "import type " : "import ", list, ` from ${stringLiteral(from)};`];
}
