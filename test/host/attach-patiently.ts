/** Attaches hosts in tests, with time limits that allow for a machine that is busy with other things. */
import { attachHosts } from "viceroy";
import { limitUnderLoad } from "../proc/until.js";

/** Time limits in ms that no host and no driver reaches unless it is dead. */
export const patience = { timeout: 60_000, silence: 60_000, keepAlive: 60_000 } as const;

/** Returns the silence in ms after which a host counts as lost in tests that make one silent. Living hosts answer within it. */
export const lossSilence = () => limitUnderLoad(4000);

/** `attachHosts` whose default time limits are those of {@link patience}. */
export const attachPatiently: typeof attachHosts = (addresses, options) =>
  attachHosts(addresses, { ...patience, ...options });
