/**
 * The program of compiler-process.ts: runs `viceroy compile` of the built package in one folder after another, and sends back
 * what it prints where it fails.
 */
import { pathToFileURL } from "node:url";

const [commands] = process.argv.slice(2);
const { runCompile } = await import(pathToFileURL(commands).href);

let last = Promise.resolve();
process.on("message", ({ id, folder }) => {
  last = last.then(async () => process.send({ id, complaint: await complaintIn(folder) }));
});

async function complaintIn(folder) {
  let printed = "";
  const print = (line) => {
    printed += `${line}\n`;
  };
  try {
    process.chdir(folder);
    const code = await runCompile({}, { out: print, err: print });
    return code === 0 ? "" : printed;
  } catch (error) {
    return `${printed}${error.message}\n`;
  }
}
