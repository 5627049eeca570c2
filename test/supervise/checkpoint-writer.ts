/** Writes one large checkpoint after another, and says what it does, until it is killed. */
import { fileStore } from "viceroy";

const [directory, first] = process.argv.slice(2) as [string, string];
const store = fileStore(directory);
const base = { actor: "test#Vault", actorId: 1, mesh: "vault", rank: 0, at: new Date(), fingerprint: 1n, schema: "{}" };
for (let i = Number(first); ; i++) {
  process.stdout.write(`writing ${i}\n`);
  await store.write({ mesh: "vault", rank: 0 }, { ...base, state: new Uint8Array(16 * 1024 * 1024).fill(i) });
  process.stdout.write(`stored ${i}\n`);
}
