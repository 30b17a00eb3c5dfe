export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };
/** A JSON Schema (2020-12) as plain data. */
export type JsonSchema = { [key: string]: unknown };
