/**
 * The face of a file: what a file that imports it can tell of it by names alone. Most edits change members of an interface,
 * and leave the face as it was; then names that other files import mean what they meant, and nobody asks the checker.
 */
import type { ts as TypeScript } from "ts-morph";
import type { Compiler } from "./load-compiler.js";

/** Equal for two texts of a file in which every name means the same, and is a declaration of the same kind. */
export function exportSignature(ts: Compiler, file: TypeScript.SourceFile): string {
  return file.statements.map((statement) => statementSignature(ts, file, statement)).join("\n");
}

/** The whole text of what is neither an interface nor an alias. */
function statementSignature(ts: Compiler, file: TypeScript.SourceFile, statement: TypeScript.Statement): string {
  const isInterface = ts.isInterfaceDeclaration(statement);
  if (!isInterface && !ts.isTypeAliasDeclaration(statement)) return statement.getText(file);
  const { modifiers = [], name, typeParameters = [] } = statement;
  // Whether it is an actor, its bases say.
  const heritage = isInterface ? (statement.heritageClauses ?? []) : [];
  const parts = [isInterface ? "interface" : "type", name, ...typeParameters, ...modifiers, ...heritage];
  return parts.map((part) => (typeof part === "string" ? part : part.getText(file))).join(" ");
}
