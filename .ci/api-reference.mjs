/**
 * Generates the API reference from the docstrings of the public API. `npm run docs:api` writes its pages to docs/api,
 * in Markdown for VitePress. With `--check`, the script writes nothing, unless `--write` is given, too, as in
 * `verify`. It fails and prints one line per reason if an export, a public member or a parameter has no description, a link does not resolve, the public API
 * names a type that is not exported, or TypeDoc reports another warning. `--package <folder>` reads another package.
 */
import path from "node:path";
import { parseArgs } from "node:util";
import { install, root } from "./steps.mjs";

const { values } = parseArgs({
  options: {
    check: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    package: { type: "string", default: root },
  },
});
const folder = path.resolve(values.package);
if ((await install(".ci/api-reference")) !== 0) process.exit(1);

const { readPackage } = await import("./api-reference/typedoc.mjs");
const { app, project, complaints } = await readPackage(folder);
if (project === undefined) {
  console.error(complaints.join("\n"));
  process.exit(1);
}
if (values.check) {
  const { violations } = await import("./api-reference/check.mjs");
  const found = [...complaints, ...violations(project, folder)];
  for (const line of found) console.error(line);
  if (found.length > 0) console.error(`\n${found.length} faults in the API reference`);
  process.exitCode = found.length > 0 ? 1 : 0;
} else {
  for (const line of complaints) console.error(line);
}
if (values.write || !values.check) {
  const { writePages } = await import("./api-reference/pages.mjs");
  await writePages(app, project, path.join(folder, "docs/api"));
}
