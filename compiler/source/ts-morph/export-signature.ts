/**
 * Computes the export signature of a file: everything that importing files can learn about the file's names. Most edits
 * change the members of an interface and leave the signature unchanged. Names in other files then keep their meanings,
 * and the checker is not needed.
 */
import type { ts as TypeScript } from "ts-morph";
import type { Compiler } from "./load-compiler.js";

/**
 * Returns a text that is equal for two versions of a file if every name has the same meaning and the same kind of
 * declaration in both.
 */
export function exportSignature(ts: Compiler, file: TypeScript.SourceFile): string {
  return file.statements.map((statement) => statementSignature(ts, file, statement)).join("\n");
}

/** Returns the signature of a statement. For statements other than interfaces and aliases, it is the whole text. */
function statementSignature(ts: Compiler, file: TypeScript.SourceFile, statement: TypeScript.Statement): string {
  const isInterface = ts.isInterfaceDeclaration(statement);
  if (!isInterface && !ts.isTypeAliasDeclaration(statement)) return statement.getText(file);
  const { modifiers = [], name, typeParameters = [] } = statement;
  // The bases of an interface determine whether it is an actor.
  const heritage = isInterface ? (statement.heritageClauses ?? []) : [];
  const parts = [isInterface ? "interface" : "type", name, ...typeParameters, ...modifiers, ...heritage];
  return parts.map((part) => (typeof part === "string" ? part : part.getText(file))).join(" ");
}
