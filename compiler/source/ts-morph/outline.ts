/** Reads the outline of a source file with TypeScript's parser, without a program and without types. */
import type { ts as TypeScript } from "ts-morph";
import type {
  BaseOutline,
  ClassOutline,
  ExportBinding,
  ImportBinding,
  ModuleOutline,
  ReexportBinding,
} from "../../actors/module-outline.js";

type Compiler = typeof TypeScript;

/** @param ts the compiler, which is a parameter because loading it is expensive */
export function outlineOf(ts: Compiler, path: string, text: string): ModuleOutline {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false);
  const outline: Collected = { imports: [], classes: [], exports: [], reexports: [] };
  for (const statement of file.statements) collect(ts, file, statement, outline);
  return outline;
}

interface Collected {
  readonly imports: ImportBinding[];
  readonly classes: ClassOutline[];
  readonly exports: ExportBinding[];
  readonly reexports: ReexportBinding[];
}

function collect(ts: Compiler, file: TypeScript.SourceFile, statement: TypeScript.Statement, into: Collected): void {
  if (ts.isImportDeclaration(statement)) collectImport(ts, statement, into);
  else if (ts.isExportDeclaration(statement)) collectExport(ts, statement, into);
  else if (ts.isClassDeclaration(statement)) collectClass(ts, file, statement, into);
  else if (ts.isVariableStatement(statement)) collectVariables(ts, file, statement, into);
  else if (ts.isExportAssignment(statement) && !statement.isExportEquals) {
    const { expression } = statement;
    if (ts.isIdentifier(expression)) into.exports.push({ local: expression.text, exported: "default" });
    else if (ts.isClassExpression(expression)) {
      into.classes.push(classOutline(ts, file, expression, undefined));
      into.exports.push({ local: undefined, exported: "default" });
    }
  }
}

function collectImport(ts: Compiler, statement: TypeScript.ImportDeclaration, { imports }: Collected): void {
  const { importClause, moduleSpecifier } = statement;
  if (importClause === undefined || !ts.isStringLiteral(moduleSpecifier)) return;
  const from = moduleSpecifier.text;
  if (importClause.name !== undefined) imports.push({ local: importClause.name.text, imported: "default", from });
  const bindings = importClause.namedBindings;
  if (bindings === undefined) return;
  if (ts.isNamespaceImport(bindings)) imports.push({ local: bindings.name.text, imported: "*", from });
  else {
    for (const { name, propertyName } of bindings.elements) {
      imports.push({ local: name.text, imported: (propertyName ?? name).text, from });
    }
  }
}

function collectExport(ts: Compiler, statement: TypeScript.ExportDeclaration, into: Collected): void {
  const { exportClause, moduleSpecifier } = statement;
  const from = moduleSpecifier !== undefined && ts.isStringLiteral(moduleSpecifier) ? moduleSpecifier.text : undefined;
  if (exportClause === undefined) {
    if (from !== undefined) into.reexports.push({ imported: "*", exported: "*", from });
    return;
  }
  if (!ts.isNamedExports(exportClause)) return;
  for (const { name, propertyName } of exportClause.elements) {
    const local = (propertyName ?? name).text;
    if (from === undefined) into.exports.push({ local, exported: name.text });
    else into.reexports.push({ imported: local, exported: name.text, from });
  }
}

function collectClass(
  ts: Compiler,
  file: TypeScript.SourceFile,
  statement: TypeScript.ClassDeclaration,
  into: Collected,
): void {
  const local = statement.name?.text;
  into.classes.push(classOutline(ts, file, statement, local));
  const has = (kind: TypeScript.SyntaxKind) => statement.modifiers?.some((modifier) => modifier.kind === kind) ?? false;
  if (!has(ts.SyntaxKind.ExportKeyword)) return;
  const exported = has(ts.SyntaxKind.DefaultKeyword) ? "default" : local;
  if (exported !== undefined) into.exports.push({ local, exported });
}

function collectVariables(
  ts: Compiler,
  file: TypeScript.SourceFile,
  statement: TypeScript.VariableStatement,
  into: Collected,
): void {
  const exported = statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
  for (const { name, initializer } of statement.declarationList.declarations) {
    if (!ts.isIdentifier(name) || initializer === undefined) continue;
    if (ts.isClassExpression(initializer)) into.classes.push(classOutline(ts, file, initializer, name.text));
    else if (ts.isCallExpression(initializer)) {
      const at = placeOf(file, name);
      into.classes.push({ local: name.text, base: baseOf(ts, initializer), abstract: false, isCall: true, ...at });
    } else continue;
    if (exported) into.exports.push({ local: name.text, exported: name.text });
  }
}

function classOutline(
  ts: Compiler,
  file: TypeScript.SourceFile,
  declared: TypeScript.ClassLikeDeclaration,
  local: string | undefined,
): ClassOutline {
  const clause = declared.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword);
  const expression = clause?.types[0]?.expression;
  const abstract = declared.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AbstractKeyword) ?? false;
  return { local, base: expression && baseOf(ts, expression), abstract, ...placeOf(file, declared.name ?? declared) };
}

function baseOf(ts: Compiler, expression: TypeScript.Expression): BaseOutline {
  if (ts.isIdentifier(expression)) return { kind: "name", name: expression.text };
  if (ts.isPropertyAccessExpression(expression) && ts.isIdentifier(expression.expression)) {
    return { kind: "member", namespace: expression.expression.text, name: expression.name.text };
  }
  if (ts.isParenthesizedExpression(expression)) return baseOf(ts, expression.expression);
  if (ts.isCallExpression(expression)) {
    return { kind: "call", args: expression.arguments.map((argument) => baseOf(ts, argument)) };
  }
  return { kind: "other" };
}

function placeOf(
  file: TypeScript.SourceFile,
  node: TypeScript.Node,
): { readonly line: number; readonly column: number } {
  const { line, character } = file.getLineAndCharacterOfPosition(node.getStart(file));
  return { line: line + 1, column: character + 1 };
}
