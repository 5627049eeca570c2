/**
 * Writes the pages of the API reference as Markdown for VitePress. Generated interfaces, such as the operations of
 * tensors, have up to 1,860 members. Their signatures are listed on one page for each initial letter.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ReflectionKind } from "typedoc";

const classKind = ReflectionKind.Class;

/** Returns whether a declaration is in a generated file. */
export const isGenerated = ({ sources }) =>
  sources?.some(({ fileName }) => /(^|\/)generated\//.test(fileName)) ?? false;

/**
 * @param app TypeDoc's application
 * @param project the project that the application has read
 * @param out the folder of the pages, whose previous content is removed
 */
export async function writePages(app, project, out) {
  const listed = takeGenerated(project);
  for (const reflection of Object.values(project.reflections)) {
    // The pages do not name the files of declarations.
    for (const declaration of [reflection, ...(reflection.signatures ?? [])]) delete declaration.sources;
    listErrors(reflection, project);
  }
  rmSync(out, { recursive: true, force: true });
  app.options.setValue("out", out);
  await app.generateOutputs(project);
  for (const [entry, files] of listed) writeSignatures(path.join(out, entry.replaceAll("/", "-"), "operations"), files);
}

/**
 * Replaces all tags `@throws {RangeError} when …` of a comment by one list. TypeDoc would drop the classes and write a
 * heading for each tag.
 */
function listErrors({ comment }, project) {
  const tags = comment?.getTags("@throws") ?? [];
  if (tags.length === 0) return;
  const content = tags.flatMap(({ typeAnnotation, content: text }) => [
    { kind: "text", text: "\n- " },
    ...errorClass(typeAnnotation, project),
    ...text.map((part) => ({ ...part, text: part.text.replace(/\s*\n\s*/g, " ") })),
  ]);
  const [first] = tags;
  first.content = content;
  delete first.typeAnnotation;
  comment.blockTags = comment.blockTags.filter((tag) => tag.tag !== "@throws" || tag === first);
}

/** Returns the class in braces, as a link if it is part of the public API. */
function errorClass(annotation, project) {
  const name = /^\{(\w+)\}$/.exec(annotation ?? "")?.[1];
  if (name === undefined) return [];
  const target = Object.values(project.reflections).find((each) => each.name === name && each.kindOf(classKind));
  const shown =
    target === undefined
      ? { kind: "code", text: `\`${name}\`` }
      : { kind: "inline-tag", tag: "@link", text: name, target };
  return [shown, { kind: "text", text: " " }];
}

/**
 * Removes the members of generated interfaces from the project, and refers to the pages that list them.
 *
 * @returns the files that declare them, by entry point
 */
function takeGenerated(project) {
  const listed = new Map();
  for (const entry of project.children) {
    for (const declaration of entry.children ?? []) {
      const generated = [...(declaration.children ?? [])].filter(isGenerated);
      for (const member of generated) {
        const files = listed.get(entry.name) ?? new Set();
        listed.set(entry.name, files.add(member.sources[0].fullFileName));
        project.removeReflection(member);
      }
      if (declaration.kindOf(ReflectionKind.Interface) && generated.length > 0) {
        const text = "\n\nThe [signatures](../operations/index.md) are listed by their first letters.";
        declaration.comment?.summary.push({ kind: "text", text });
      }
      for (const group of declaration.groups ?? []) {
        group.children = group.children.filter((child) => declaration.children?.includes(child));
      }
      if (declaration.groups) declaration.groups = declaration.groups.filter(({ children }) => children.length > 0);
    }
  }
  return listed;
}

/**
 * Writes the files `a.md` to `z.md` and an index. They list the signatures of generated interfaces by the initial
 * letters of their names.
 */
function writeSignatures(folder, files) {
  const letters = new Map();
  for (const file of files) {
    for (const [, name, body] of readFileSync(file, "utf8").matchAll(/^export interface (\w+) \{\n(.*?)^\}/gms)) {
      for (const [signature, method] of body.matchAll(/^(?: {2}\/\*\*[^\n]*\*\/\n)? {2}(\w+).*?;$(?!\n {4})/gms)) {
        const letter = /[a-z]/i.exec(method)[0].toLowerCase();
        const parts = letters.get(letter) ?? new Map();
        letters.set(letter, parts.set(name, [...(parts.get(name) ?? []), signature.replace(/^ {2}/gm, "")]));
      }
    }
  }
  mkdirSync(folder, { recursive: true });
  const sorted = [...letters.keys()].sort();
  for (const letter of sorted) {
    const sections = [...letters.get(letter)].map(
      ([name, signatures]) => `## ${name}\n\n\`\`\`ts\n${signatures.join("\n")}\n\`\`\`\n`,
    );
    writeFileSync(path.join(folder, `${letter}.md`), [`# Operations: ${letter}\n`, ...sections].join("\n"));
  }
  const links = sorted.map((letter) => `[${letter}](${letter}.md)`).join(" · ");
  writeFileSync(path.join(folder, "index.md"), `# Operations\n\nSignatures by the first letter: ${links}\n`);
}
