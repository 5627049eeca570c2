/**
 * A program that attaches hosts which a person starts: `node by-hand.js <addresses as JSON> <file with the token> <processes per host>`.
 * Prints one line of JSON, with times in milliseconds since 1970.
 */
import { readFileSync } from "node:fs";
import { loadJobs } from "../viceroy/prepare.js";

const [, , addresses, tokenFile, each] = process.argv;
const { attachByHand, askActors } = await loadJobs();
const asked = Date.now();
const hosts = attachByHand(JSON.parse(addresses), { token: readFileSync(tokenFile, "utf8"), timeout: 60_000 });
await hosts.ready;
const attached = Date.now();
await askActors(hosts, Number(each));
const answered = Date.now();
await hosts.stop();
process.stdout.write(`${JSON.stringify({ asked, attached, answered })}\n`);
process.exit(0);
