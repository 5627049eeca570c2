/**
 * Reads syntax trees to plain data: declarations, members and types as they are written. The checker resolves the
 * names. Computed types get a handle and are expanded by `expander.ts`.
 */
import type { ts as TypeScript } from "ts-morph";
import type {
  Keyword,
  SourceComment,
  SourceDeclaration,
  SourceMember,
  SourceParameter,
  SourceTupleElement,
  SourceType,
  Span,
} from "../type-source.js";
import type { Compiler } from "./load-compiler.js";
import type { NameResolver } from "./name-resolver.js";

export class SyntaxReader {
  readonly #ts: Compiler;
  readonly #names: NameResolver;
  readonly #checker: TypeScript.TypeChecker;
  readonly #handles: TypeScript.TypeNode[];
  readonly #keywords: ReadonlyMap<TypeScript.SyntaxKind, Keyword>;
  /** The file whose nodes are being read. Finding the file of a node costs more than reading the node. */
  #file: TypeScript.SourceFile | undefined;
  /** Whether a name was replaced by the value of an enum member since this flag was last reset. */
  sawEnumMember = false;

  /** @param handles the list of computed types; a handle is an index of this list */
  constructor(ts: Compiler, names: NameResolver, checker: TypeScript.TypeChecker, handles: TypeScript.TypeNode[]) {
    this.#ts = ts;
    this.#names = names;
    this.#checker = checker;
    this.#handles = handles;
    this.#keywords = keywordsOf(ts);
  }

  /**
   * Returns the declarations of a file in source order. Declarations in a namespace have qualified names and the
   * position of the namespace.
   */
  declarations(file: TypeScript.SourceFile): readonly SourceDeclaration[] {
    this.#file = file;
    const { statements, isDeclarationFile } = file;
    const path = this.#names.pathOf(file);
    const place = { file: path, namespace: "", isVisible: true, isAmbient: isDeclarationFile };
    const exported = this.#exportedNames(statements);
    return statements.flatMap((statement) => this.#declaration(statement, { ...place, exported, exportsAll: false }));
  }

  /**
   * Returns the names in `export { A, B as C }` and `export default A`. Declarations with an `export` modifier are not
   * included.
   */
  #exportedNames(statements: readonly TypeScript.Statement[]): ReadonlySet<string> {
    const ts = this.#ts;
    const names = new Set<string>();
    for (const statement of statements) {
      if (ts.isExportAssignment(statement) && ts.isIdentifier(statement.expression))
        names.add(statement.expression.text);
      if (!ts.isExportDeclaration(statement) || statement.moduleSpecifier !== undefined) continue;
      const { exportClause } = statement;
      if (exportClause === undefined || !ts.isNamedExports(exportClause)) continue;
      for (const { name, propertyName } of exportClause.elements) names.add((propertyName ?? name).text);
    }
    return names;
  }

  #declaration(statement: TypeScript.Statement, place: DeclarationSite): readonly SourceDeclaration[] {
    const ts = this.#ts;
    if (ts.isInterfaceDeclaration(statement)) {
      const heritage = statement.heritageClauses?.flatMap(({ types }) => [...types]) ?? [];
      return [
        {
          ...this.#head("interface", statement, statement.name, place),
          typeParameters: this.#typeParameters(statement),
          heritage: heritage.map((type) => this.#expressionType(type)),
          members: this.members(statement.members),
        },
      ];
    }
    if (ts.isTypeAliasDeclaration(statement)) {
      const head = this.#head("alias", statement, statement.name, place);
      return [{ ...head, typeParameters: this.#typeParameters(statement), type: this.type(statement.type) }];
    }
    if (ts.isEnumDeclaration(statement)) {
      const values = statement.members.map((member, i) => ({
        ...this.#span(member.name),
        name: ts.isIdentifier(member.name) || ts.isStringLiteral(member.name) ? member.name.text : "",
        value: this.#checker.getConstantValue(member),
        comment: this.#comment(member),
        trailingComment: this.#trailingComment(member, statement.members[i + 1]),
      }));
      return [{ ...this.#head("enum", statement, statement.name, place), values }];
    }
    if (ts.isClassDeclaration(statement)) {
      return [this.#head("class", statement, statement.name ?? statement, place)];
    }
    return this.#other(statement, place);
  }

  #other(statement: TypeScript.Statement, place: DeclarationSite): readonly SourceDeclaration[] {
    const ts = this.#ts;
    if (ts.isFunctionDeclaration(statement)) {
      return [{ ...this.#head("other", statement, statement.name ?? statement, place), what: "function" }];
    }
    if (ts.isModuleDeclaration(statement)) {
      if (this.#names.isNamespace(statement))
        return this.#namespace(statement, place, this.#hasExportModifier(statement));
      return [{ ...this.#head("other", statement, statement.name, place), what: "namespace" }];
    }
    if (!ts.isVariableStatement(statement)) return [];
    const isExported = this.#hasExportModifier(statement);
    return statement.declarationList.declarations.map((variable) => {
      const head = this.#head("other", statement, variable.name, place);
      return { ...head, exported: (place.isVisible && isExported) || head.exported, what: "variable" };
    });
  }

  /**
   * Reads the declarations of a namespace. In `namespace A.B`, the namespace `B` is exported without an `export`
   * modifier.
   */
  #namespace(
    { name, body, modifiers }: TypeScript.ModuleDeclaration,
    place: DeclarationSite,
    saysExport: boolean,
  ): readonly SourceDeclaration[] {
    const ts = this.#ts;
    if (body === undefined || body.kind === ts.SyntaxKind.Identifier) return [];
    const isAmbient = place.isAmbient || modifiers?.some(({ kind }) => kind === ts.SyntaxKind.DeclareKeyword) === true;
    const isExported = saysExport || place.exportsAll || place.exported.has(name.text);
    const inside = {
      ...place,
      namespace: `${place.namespace}${name.text}.`,
      isVisible: place.isVisible && isExported,
      isAmbient,
    };
    if (ts.isModuleDeclaration(body)) {
      return this.#namespace(body, { ...inside, exported: new Set(), exportsAll: true }, true);
    }
    if (!ts.isModuleBlock(body)) return [];
    const { statements } = body;
    // An ambient namespace without export statements exports all its declarations.
    const exportsAll =
      isAmbient && !statements.some((one) => ts.isExportDeclaration(one) || ts.isExportAssignment(one));
    const within = { ...inside, exported: this.#exportedNames(statements), exportsAll };
    return statements.flatMap((statement) => this.#declaration(statement, within));
  }

  #head(
    kind: SourceDeclaration["kind"],
    statement: TypeScript.Statement,
    nameNode: TypeScript.Node,
    { file, namespace, isVisible, exported, exportsAll }: DeclarationSite,
  ): SourceDeclaration {
    const own = this.#ts.isIdentifier(nameNode) ? nameNode.text : "default";
    const name = namespace + own;
    return {
      ...this.#span(nameNode),
      kind,
      key: `${file}#${name}`,
      name,
      file,
      exported: isVisible && (exportsAll || this.#hasExportModifier(statement) || exported.has(own)),
      comment: this.#comment(statement),
      typeParameters: [],
      heritage: [],
      members: [],
      values: [],
    };
  }

  #hasExportModifier(node: TypeScript.Node): boolean {
    const ts = this.#ts;
    return (ts.getCombinedModifierFlags(node as TypeScript.Declaration) & ts.ModifierFlags.Export) !== 0;
  }

  #typeParameters(node: TypeScript.InterfaceDeclaration | TypeScript.TypeAliasDeclaration) {
    return (node.typeParameters ?? []).map((parameter) => ({
      name: parameter.name.text,
      ...(parameter.default && { defaultType: this.type(parameter.default) }),
    }));
  }

  /** Returns the last documentation comment before `node`. */
  #comment(node: TypeScript.Node): SourceComment | undefined {
    const { text } = this.#file ?? node.getSourceFile();
    // This test is cheaper than searching for comments where there is only white space.
    if (text.charAt(firstMark(text, node.pos)) !== "/") return undefined;
    const ranges = [
      ...(this.#ts.getTrailingCommentRanges(text, node.pos) ?? []).filter((range) => isBefore(text, node.pos, range)),
      ...(this.#ts.getLeadingCommentRanges(text, node.pos) ?? []),
    ];
    return lastOf(text, ranges);
  }

  /** Returns the documentation comment at the end of the line of `node`, unless it belongs to `next`. */
  #trailingComment(node: TypeScript.Node, next: TypeScript.Node | undefined): SourceComment | undefined {
    const { text } = this.#file ?? node.getSourceFile();
    let { end } = node;
    // A separator is part of a member, but not part of an enum's value.
    if (text.charAt(firstMark(text, end)) === ",") end = firstMark(text, end) + 1;
    if (text.charAt(firstMark(text, end)) !== "/") return undefined;
    const ranges = this.#ts.getTrailingCommentRanges(text, end) ?? [];
    return lastOf(
      text,
      ranges.filter((range) => next === undefined || !isBefore(text, end, range)),
    );
  }

  members(nodes: readonly TypeScript.TypeElement[]): readonly SourceMember[] {
    return nodes.map((node, i) => this.#member(node, nodes[i + 1]));
  }

  #member(node: TypeScript.TypeElement, next: TypeScript.TypeElement | undefined): SourceMember {
    const ts = this.#ts;
    const { name } = node;
    const at = name ?? node;
    const isProperty = ts.isPropertySignature(node);
    const isMethod = !isProperty && ts.isMethodSignature(node);
    const isIndex = !isProperty && !isMethod && ts.isIndexSignatureDeclaration(node);
    const typed = isProperty || isMethod || isIndex ? node.type : undefined;
    let kind: SourceMember["kind"] = "property";
    if (isMethod) kind = "method";
    else if (isIndex) kind = "index";
    else if (!isProperty) kind = ts.isAccessor(node) ? "accessor" : "call";
    return {
      start: at.getStart(this.#file),
      end: at.end,
      kind,
      name: name && this.#memberName(name),
      optional: node.questionToken !== undefined,
      readonly: isProperty && node.modifiers !== undefined && node.modifiers.length > 0,
      comment: this.#comment(node),
      trailingComment: this.#trailingComment(node, next),
      type: typed && this.type(typed),
      params: isMethod || isIndex ? this.#parameters(node.parameters) : none,
      generic: isMethod && node.typeParameters !== undefined,
    };
  }

  #memberName(name: TypeScript.PropertyName): string | undefined {
    const ts = this.#ts;
    if (ts.isIdentifier(name) || ts.isStringLiteralLike(name)) return name.text;
    // `1.0` and `0x1` are the property name "1".
    return ts.isNumericLiteral(name) ? String(Number(name.text)) : undefined;
  }

  #parameters(nodes: readonly TypeScript.ParameterDeclaration[]): readonly SourceParameter[] {
    return nodes.map((node) => ({
      start: node.name.getStart(this.#file),
      end: node.name.end,
      name: this.#ts.isIdentifier(node.name) ? node.name.text : undefined,
      optional: node.questionToken !== undefined,
      rest: node.dotDotDotToken !== undefined,
      type: node.type && this.type(node.type),
    }));
  }

  type(node: TypeScript.TypeNode): SourceType {
    const start = node.getStart(this.#file);
    const { end } = node;
    const keyword = this.#keywords.get(node.kind);
    if (keyword !== undefined) return { start, end, kind: "keyword", name: keyword };
    const ts = this.#ts;
    if (ts.isTypeReferenceNode(node)) return this.#reference(node, node.typeName, node.typeArguments);
    if (ts.isArrayTypeNode(node)) {
      return { start, end, kind: "array", element: this.type(node.elementType), readonly: false };
    }
    if (ts.isLiteralTypeNode(node)) return this.#literal(node);
    if (ts.isUnionTypeNode(node)) return { start, end, kind: "union", types: this.#types(node.types) };
    if (ts.isTypeLiteralNode(node)) return { start, end, kind: "object", members: this.members(node.members) };
    if (ts.isTupleTypeNode(node)) return this.#tuple(node, false);
    if (ts.isParenthesizedTypeNode(node)) return this.type(node.type);
    if (ts.isIntersectionTypeNode(node)) return { start, end, kind: "intersection", types: this.#types(node.types) };
    if (ts.isTypeOperatorNode(node)) return this.#operator(node);
    if (ts.isFunctionTypeNode(node) || ts.isConstructorTypeNode(node)) return { start, end, kind: "function" };
    if (ts.isExpressionWithTypeArguments(node)) return this.#expressionType(node);
    if (ts.isImportTypeNode(node) && node.qualifier !== undefined && !node.isTypeOf) {
      return this.#reference(node, node.qualifier, node.typeArguments);
    }
    return { start, end, kind: "computed", handle: this.#handle(node) };
  }

  #types(nodes: readonly TypeScript.TypeNode[]): readonly SourceType[] {
    return nodes.map((node) => this.type(node));
  }

  /** Returns the span of a node without the comments before it. */
  #span(node: TypeScript.Node): Span {
    return { start: node.getStart(this.#file), end: node.end };
  }

  /** Reads nodes of another file. */
  within<T>(file: TypeScript.SourceFile, read: () => T): T {
    const before = this.#file;
    this.#file = file;
    try {
      return read();
    } finally {
      this.#file = before;
    }
  }

  #handle(node: TypeScript.TypeNode): number {
    return this.#handles.push(node) - 1;
  }

  #literal(node: TypeScript.LiteralTypeNode): SourceType {
    const ts = this.#ts;
    const { literal } = node;
    const span = this.#span(node);
    if (ts.isStringLiteralLike(literal)) return { ...span, kind: "literal", value: literal.text };
    if (ts.isNumericLiteral(literal)) return { ...span, kind: "literal", value: Number(literal.text) };
    if (literal.kind === ts.SyntaxKind.NullKeyword) return { ...span, kind: "keyword", name: "null" };
    if (literal.kind === ts.SyntaxKind.TrueKeyword) return { ...span, kind: "literal", value: true };
    if (literal.kind === ts.SyntaxKind.FalseKeyword) return { ...span, kind: "literal", value: false };
    if (ts.isPrefixUnaryExpression(literal) && ts.isNumericLiteral(literal.operand)) {
      return { ...span, kind: "literal", value: -Number(literal.operand.text) };
    }
    return { ...span, kind: "keyword", name: "bigint" };
  }

  #tuple(node: TypeScript.TupleTypeNode, readonly: boolean): SourceType {
    const elements = node.elements.map((element) => this.#tupleElement(element));
    return { ...this.#span(node), kind: "tuple", elements, readonly };
  }

  #tupleElement(node: TypeScript.TypeNode | TypeScript.NamedTupleMember): SourceTupleElement {
    const ts = this.#ts;
    if (ts.isNamedTupleMember(node)) {
      const rest = node.dotDotDotToken !== undefined;
      return { name: node.name.text, type: this.type(node.type), optional: node.questionToken !== undefined, rest };
    }
    if (ts.isOptionalTypeNode(node)) return { type: this.type(node.type), optional: true, rest: false };
    if (ts.isRestTypeNode(node)) return { type: this.type(node.type), optional: false, rest: true };
    return { type: this.type(node), optional: false, rest: false };
  }

  /** Reads `readonly T[]`. `keyof T` is a computed type. */
  #operator(node: TypeScript.TypeOperatorNode): SourceType {
    const ts = this.#ts;
    const span = this.#span(node);
    if (node.operator !== ts.SyntaxKind.ReadonlyKeyword) {
      return { ...span, kind: "computed", handle: this.#handle(node) };
    }
    if (ts.isArrayTypeNode(node.type)) {
      return { ...span, kind: "array", element: this.type(node.type.elementType), readonly: true };
    }
    if (ts.isTupleTypeNode(node.type)) return { ...this.#tuple(node.type, true), ...span };
    return { ...span, kind: "computed", handle: this.#handle(node) };
  }

  #expressionType(node: TypeScript.ExpressionWithTypeArguments): SourceType {
    const ts = this.#ts;
    if (ts.isIdentifier(node.expression) || ts.isPropertyAccessExpression(node.expression)) {
      return this.#reference(node, node.expression, node.typeArguments);
    }
    return { ...this.#span(node), kind: "computed", handle: this.#handle(node) };
  }

  #reference(
    node: TypeScript.TypeNode,
    name: TypeScript.EntityName | TypeScript.Expression,
    typeArguments: readonly TypeScript.TypeNode[] | undefined,
  ): SourceType {
    const start = node.getStart(this.#file);
    const { end } = node;
    const found = this.#names.resolve(name);
    if (found.kind === "parameter") return { start, end, kind: "parameter", name: found.name };
    if (found.kind === "member") this.sawEnumMember = true;
    if (found.kind === "member") return { start, end, kind: "literal", value: found.value };
    const args = typeArguments === undefined ? none : this.#types(typeArguments);
    const handle = typeArguments === undefined ? undefined : this.#handle(node);
    return { start, end, kind: "reference", origin: found.kind, name: found.name, key: found.key, args, handle };
  }
}

/** The context of declarations: a file, or the body of a namespace. */
interface DeclarationSite {
  readonly file: string;
  /** The prefix of names: `Order.`, or empty at the top level. */
  readonly namespace: string;
  /** Whether all enclosing namespaces are exported. */
  readonly isVisible: boolean;
  readonly isAmbient: boolean;
  /** The names that export statements export. */
  readonly exported: ReadonlySet<string>;
  /** Whether declarations are exported without an `export` modifier. */
  readonly exportsAll: boolean;
}

const none: readonly never[] = [];

/**
 * Returns whether a comment after the token that ends at `from`, on the same line, belongs to the following node. A
 * comment at the end of the line belongs to the preceding node, unless the token is an opening bracket.
 */
function isBefore(text: string, from: number, { pos, end }: TypeScript.TextRange): boolean {
  if (/[{(<]/.test(text.charAt(from - 1))) return true;
  const endsLine = /[ \t]*(?:[\n\r]|$)/y;
  endsLine.lastIndex = end;
  return !endsLine.test(text) || text.slice(pos, end).includes("\n");
}

/** Returns the last documentation comment. */
function lastOf(text: string, ranges: readonly TypeScript.CommentRange[]): SourceComment | undefined {
  const last = ranges.findLast(({ pos }) => text.startsWith("/**", pos));
  return last && { text: text.slice(last.pos, last.end), start: last.pos };
}

/** Returns the end of the white space at `position`. */
function firstMark(text: string, position: number): number {
  let i = position;
  while (text.charCodeAt(i) <= 32) i++;
  return i;
}

function keywordsOf({ SyntaxKind }: Compiler): ReadonlyMap<TypeScript.SyntaxKind, Keyword> {
  return new Map<TypeScript.SyntaxKind, Keyword>([
    [SyntaxKind.AnyKeyword, "any"],
    [SyntaxKind.BigIntKeyword, "bigint"],
    [SyntaxKind.BooleanKeyword, "boolean"],
    [SyntaxKind.NeverKeyword, "never"],
    [SyntaxKind.NumberKeyword, "number"],
    [SyntaxKind.ObjectKeyword, "object"],
    [SyntaxKind.StringKeyword, "string"],
    [SyntaxKind.SymbolKeyword, "symbol"],
    [SyntaxKind.ThisType, "this"],
    [SyntaxKind.UndefinedKeyword, "undefined"],
    [SyntaxKind.UnknownKeyword, "unknown"],
    [SyntaxKind.VoidKeyword, "void"],
  ]);
}
