/**
 * Checks a codec that generated code imports from the generated code of another package. The other package can be
 * replaced by another version without compiling this one again. Messages would then contain parts in a layout that
 * their own fingerprints do not describe.
 */
import type { Codec } from "./codec.js";

/**
 * Called by generated code when it is loaded.
 *
 * @param codec the codec of the other package
 * @param fingerprint the fingerprint with which the importing module was compiled
 * @param from the name of the other package
 * @param importer the name of the importing package
 * @throws {Error} if the codec has another fingerprint
 */
export function checkImportedCodec(
  codec: Pick<Codec<unknown>, "name" | "fingerprint">,
  fingerprint: bigint,
  from: string,
  importer: string,
): void {
  if (codec.fingerprint === fingerprint) return;
  throw new Error(
    `cannot use ${codec.name} of ${from}: the installed version has another schema than the version with which ${importer} ` +
      `was compiled; run \`npx viceroy compile\` in ${importer}, or install that version of ${from}, got fingerprints ` +
      `${hex(codec.fingerprint)} and ${hex(fingerprint)}`,
  );
}

function hex(fingerprint: bigint): string {
  return `0x${fingerprint.toString(16).padStart(16, "0")}`;
}
