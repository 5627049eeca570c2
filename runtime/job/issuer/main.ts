/**
 * The program of an issuer: it signs the certificates of the hosts of a job that can reach it, such as the nodes of Slurm.
 * It needs no driver, and ends with its standard input. Hosts that have enrolled go on without it, and a new issuer
 * renews their certificates.
 */
import { errorMessage } from "../../../shared/text/error-message.js";
import { serveIssuer } from "../credentials/index.js";
import { readIssuerArguments } from "./issuer-order.js";

const say = (text: string) => void process.stderr.write(`viceroy issuer: ${text}\n`);
process.title = "viceroy issuer";
// Whoever reads the output may go away.
for (const output of [process.stdout, process.stderr]) output.on("error", () => {});
process.stdin.on("end", () => process.exit()).resume();
try {
  await serveIssuer(readIssuerArguments(process.argv.slice(2)), say);
} catch (error) {
  say(errorMessage(error));
  process.exit(70);
}
