/**
 * Whether a bundler has copied the runtime into a program. Then there is no boot file beside it. The build defines the
 * constant in `dist/inline/`.
 */
declare const VICEROY_INLINED: true | undefined;

export const isInlined: boolean = typeof VICEROY_INLINED === "boolean";
