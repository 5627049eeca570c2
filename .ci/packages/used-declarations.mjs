/**
 * Reduces declarations to what entry points export, and what the types of that name. A file of declarations has everything
 * that its source exports to the rest of the product, and the imports of its bodies.
 */
import { ts } from "ts-morph";

/**
 * Returns the text of each file that is left.
 *
 * @param entries the absolute paths of the declarations of the entry points
 */
export function usedDeclarations(entries) {
  const program = ts.createProgram(entries, {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    noLib: true,
    types: [],
  });
  const used = new UsedNodes(program.getTypeChecker());
  const files = program.getSourceFiles().filter(({ fileName }) => !fileName.includes("/node_modules/"));
  // Augmentations change the types of other files, which do not import them.
  const augmenting = new Set(files.filter(({ statements }) => statements.some(ts.isModuleDeclaration)));
  for (const { statements } of augmenting) statements.filter(ts.isModuleDeclaration).forEach(used.addStatement, used);
  for (const entry of entries) used.addModule(program.getSourceFile(entry));
  const kept = new Set(files.filter((file) => file.statements.some((statement) => used.has(statement))));
  return new Map([...kept].map((file) => [file.fileName, textOf(file, used, { kept, augmenting })]));
}

/** The statements, and the names of imports and exports, that are used. */
class UsedNodes {
  #checker;
  #nodes = new Set();

  constructor(checker) {
    this.#checker = checker;
  }

  has(node) {
    return this.#nodes.has(node);
  }

  /** Adds all exports of a module. */
  addModule(file) {
    const module = this.#checker.getSymbolAtLocation(file);
    if (module === undefined) return;
    for (const symbol of this.#checker.getExportsOfModule(module))
      if (this.#isDeclared(symbol)) this.#addSymbol(symbol);
    this.#addStars(module);
  }

  addStatement(statement) {
    if (this.#nodes.has(statement)) return;
    this.#nodes.add(statement);
    const visit = (node) => {
      if (ts.isIdentifier(node)) this.#addSymbol(this.#checker.getSymbolAtLocation(node));
      else if (ts.isImportTypeNode(node) && node.qualifier === undefined) {
        const module = this.#checker.getSymbolAtLocation(node.argument.literal);
        for (const file of module?.declarations ?? []) this.addModule(file);
      }
      ts.forEachChild(node, visit);
    };
    visit(statement);
  }

  /** Returns whether a symbol has a declaration: those of internal names are not written. */
  #isDeclared(symbol) {
    if ((symbol.flags & ts.SymbolFlags.Alias) === 0) return true;
    return (this.#checker.getAliasedSymbol(symbol).declarations ?? []).length > 0;
  }

  /** Adds the declarations of a symbol, and the imports and exports by which it has come. */
  #addSymbol(symbol) {
    for (let next = symbol; next !== undefined; next = this.#aliased(next)) {
      for (const declaration of next.declarations ?? []) this.#addDeclaration(declaration);
    }
  }

  #aliased(symbol) {
    return symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getImmediateAliasedSymbol(symbol) : undefined;
  }

  #addDeclaration(declaration) {
    if (ts.isSourceFile(declaration)) return this.addModule(declaration);
    const statement = ts.findAncestor(declaration, (node) => node.parent !== undefined && ts.isSourceFile(node.parent));
    if (statement === undefined) return;
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return this.addStatement(statement);
    this.#nodes.add(statement);
    this.#nodes.add(declaration);
    if (statement.moduleSpecifier !== undefined)
      this.#addStars(this.#checker.getSymbolAtLocation(statement.moduleSpecifier));
  }

  /** Adds the statements `export * from "…"` of a module, which stand between an export and its import without a name. */
  #addStars(module) {
    for (const statement of (module?.declarations ?? []).flatMap((file) => file.statements ?? [])) {
      if (!ts.isExportDeclaration(statement) || statement.exportClause !== undefined || this.#nodes.has(statement))
        continue;
      this.#nodes.add(statement);
      this.#addStars(this.#checker.getSymbolAtLocation(statement.moduleSpecifier));
    }
  }

  /** Returns the file of the module that an import or export names, unless it is of another package. */
  moduleOf({ moduleSpecifier }) {
    return this.#checker.getSymbolAtLocation(moduleSpecifier)?.declarations?.find(ts.isSourceFile);
  }
}

/** Returns the text of a file without the statements and names that are not used. */
function textOf(file, used, { kept, augmenting }) {
  const texts = file.statements.map((statement) => {
    const isImport = ts.isImportDeclaration(statement);
    if (!isImport && !ts.isExportDeclaration(statement)) return used.has(statement) ? statement.getFullText(file) : "";
    const module = statement.moduleSpecifier && used.moduleOf(statement);
    const names = isImport ? statement.importClause?.namedBindings : statement.exportClause;
    if (used.has(statement)) {
      const isGone = names === undefined && module !== undefined && !kept.has(module);
      return isGone ? "" : withNames(statement.getFullText(file), names, file, used);
    }
    // The file is loaded for what it changes.
    return isImport && augmenting.has(module) ? `\nimport ${statement.moduleSpecifier.getText(file)};` : "";
  });
  const text = texts.join("").trimStart();
  return /^(?:import|export) /m.test(text) ? `${text}\n` : `${text}\nexport {};\n`;
}

/** Returns the text of an import or export without the names in braces that are not used. */
function withNames(text, names, file, used) {
  if (names?.elements === undefined) return text;
  const left = names.elements.filter((name) => used.has(name)).map((name) => name.getText(file));
  return text.replace(names.getText(file), () => `{ ${left.join(", ")} }`);
}
