/**
 * `node walk.js <project>`: reads all schemas with ts-morph and requests the type of every property, which is the first step of any compiler
 * built on ts-morph. Prints the number of fields.
 */
import path from "node:path";
import { Project, ScriptTarget } from "ts-morph";

const [, , directory] = process.argv;
const project = new Project({
  compilerOptions: { target: ScriptTarget.ES2022, strict: true },
  skipLoadingLibFiles: false,
});
const files = project.addSourceFilesAtPaths(path.join(directory, "schemas/**/*.ts"));
let fields = 0;
for (const file of files) {
  for (const declaration of file.getInterfaces()) {
    for (const property of declaration.getProperties()) fields += fieldsOf(property, property.getType());
  }
}
process.stdout.write(`${fields}\n`);

function fieldsOf(node, type) {
  let count = 1;
  if (type.isUnion()) type.getUnionTypes();
  const element = type.isArray() ? type.getArrayElementTypeOrThrow() : type;
  if (element.isAnonymous())
    for (const property of element.getProperties()) count += fieldsOf(node, property.getTypeAtLocation(node));
  return count;
}
