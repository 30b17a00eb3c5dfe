/**
 * Character references of Markdown text. Names are those of HTML 4 and the HTML 5 ones that people and models write;
 * a name that is not here stays text as it was written.
 */

/** U+00A0 to U+00FF in order. */
const latin = [
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute',
  'micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig',
  'Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash',
  'Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute',
  'ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc',
  'uuml yacute thorn yuml',
];

/** Name = code point in hexadecimal. */
const others = [
  'Tab=9 NewLine=a excl=21 quot=22 num=23 dollar=24 percnt=25 amp=26 apos=27 lpar=28 rpar=29 ast=2a plus=2b',
  'comma=2c period=2e sol=2f colon=3a semi=3b lt=3c equals=3d gt=3e quest=3f commat=40 lbrack=5b bsol=5c rbrack=5d',
  'Hat=5e lowbar=5f grave=60 lbrace=7b verbar=7c vert=7c rbrace=7d half=bd amacr=101 Abreve=102 abreve=103',
  'Aogon=104 aogon=105 Cacute=106 cacute=107 Ccaron=10c ccaron=10d Dcaron=10e dcaron=10f emacr=113 Eogon=118',
  'eogon=119 Ecaron=11a ecaron=11b Gbreve=11e gbreve=11f imacr=12b inodot=131 Lstrok=141 lstrok=142 Nacute=143',
  'nacute=144 Ncaron=147 ncaron=148 omacr=14d Odblac=150 odblac=151 OElig=152 oelig=153 Rcaron=158 rcaron=159',
  'Sacute=15a sacute=15b Scedil=15e scedil=15f Scaron=160 scaron=161 umacr=16b Uring=16e uring=16f Udblac=170',
  'udblac=171 Yuml=178 Zacute=179 zacute=17a Zdot=17b zdot=17c Zcaron=17d zcaron=17e fnof=192 circ=2c6 caron=2c7',
  'tilde=2dc Alpha=391 Beta=392 Gamma=393 Delta=394 Epsilon=395 Zeta=396 Eta=397 Theta=398 Iota=399 Kappa=39a',
  'Lambda=39b Mu=39c Nu=39d Xi=39e Omicron=39f Pi=3a0 Rho=3a1 Sigma=3a3 Tau=3a4 Upsilon=3a5 Phi=3a6 Chi=3a7 Psi=3a8',
  'Omega=3a9 alpha=3b1 beta=3b2 gamma=3b3 delta=3b4 epsilon=3b5 zeta=3b6 eta=3b7 theta=3b8 iota=3b9 kappa=3ba',
  'lambda=3bb mu=3bc nu=3bd xi=3be omicron=3bf pi=3c0 rho=3c1 sigmaf=3c2 sigma=3c3 tau=3c4 upsilon=3c5 phi=3c6',
  'chi=3c7 psi=3c8 omega=3c9 thetasym=3d1 upsih=3d2 piv=3d6 ensp=2002 emsp=2003 thinsp=2009 zwnj=200c zwj=200d',
  'lrm=200e rlm=200f hyphen=2010 ndash=2013 mdash=2014 lsquo=2018 rsquo=2019 sbquo=201a ldquo=201c rdquo=201d',
  'bdquo=201e dagger=2020 Dagger=2021 bull=2022 hellip=2026 permil=2030 prime=2032 Prime=2033 lsaquo=2039',
  'rsaquo=203a oline=203e frasl=2044 euro=20ac image=2111 ell=2113 weierp=2118 real=211c trade=2122 alefsym=2135',
  'larr=2190 leftarrow=2190 uarr=2191 rarr=2192 rightarrow=2192 darr=2193 harr=2194 mapsto=21a6 hookleftarrow=21a9',
  'crarr=21b5 Leftarrow=21d0 lArr=21d0 uArr=21d1 Rightarrow=21d2 rArr=21d2 dArr=21d3 hArr=21d4 forall=2200',
  'part=2202 exist=2203 empty=2205 nabla=2207 in=2208 isin=2208 notin=2209 ni=220b prod=220f sum=2211 minus=2212',
  'lowast=2217 radic=221a prop=221d infin=221e ang=2220 and=2227 or=2228 cap=2229 cup=222a int=222b there4=2234',
  'sim=223c cong=2245 approx=2248 asymp=2248 ne=2260 equiv=2261 le=2264 leq=2264 ge=2265 geq=2265 sub=2282 sup=2283',
  'nsub=2284 sube=2286 supe=2287 oplus=2295 otimes=2297 perp=22a5 sdot=22c5 lceil=2308 rceil=2309 lfloor=230a',
  'rfloor=230b boxh=2500 block=2588 squ=25a1 square=25a1 loz=25ca starf=2605 star=2606 phone=260e female=2640',
  'male=2642 spades=2660 clubs=2663 hearts=2665 diams=2666 sung=266a flat=266d natural=266e sharp=266f check=2713',
  'cross=2717 lang=27e8 rang=27e9',
];

const characters = new Map<string, string>([
  ...latin
    .join(' ')
    .split(' ')
    .map((name, index): [string, string] => [name, String.fromCharCode(160 + index)]),
  ...others
    .join(' ')
    .split(' ')
    .map((entry): [string, string] => {
      const [name = '', code = ''] = entry.split('=');
      return [name, String.fromCodePoint(Number.parseInt(code, 16))];
    }),
]);

const reference = /&(?:#[xX]([0-9a-fA-F]{1,6})|#([0-9]{1,7})|([A-Za-z][A-Za-z0-9]{1,31}));/;
const referenceHere = new RegExp(reference.source, 'y');
const referenceAnywhere = new RegExp(reference.source, 'g');

/** The reference that begins at `at`: its length in the source and its character; null when there is none. */
export function readReference(source: string, at: number): { length: number; character: string } | null {
  referenceHere.lastIndex = at;
  const match = referenceHere.exec(source);
  const character = match && characterOf(match);
  return match && character ? { length: match[0].length, character } : null;
}

/** Resolves backslash escapes and character references, as in link destinations and code languages. */
export function unescapeMarkdown(source: string): string {
  if (!/[\\&]/.test(source)) return source;
  let out = '';
  for (let i = 0; i < source.length; i++) {
    const next = source[i + 1] ?? '';
    if (source[i] === '\\' && isAsciiPunctuation(next)) {
      out += next;
      i++;
      continue;
    }
    const found = source[i] === '&' ? readReference(source, i) : null;
    out += found ? found.character : source[i];
    if (found) i += found.length - 1;
  }
  return out;
}

/** Puts a backslash before every `&` that would be read as a reference. */
export function escapeReferences(text: string): string {
  return text.replace(referenceAnywhere, (match) => `\\${match}`);
}

export function isAsciiPunctuation(character: string): boolean {
  return /^[!-/:-@[-`{-~]$/.test(character);
}

function characterOf(match: RegExpExecArray): string | undefined {
  if (match[3] !== undefined) return characters.get(match[3]);
  const code = match[1] === undefined ? Number.parseInt(match[2] ?? '', 10) : Number.parseInt(match[1], 16);
  const impossible = code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff);
  return impossible ? '\ufffd' : String.fromCodePoint(code);
}
