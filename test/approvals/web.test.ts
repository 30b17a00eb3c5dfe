import { againstCases } from './against_cases.ts';
import { askedCases } from './asked_cases.ts';
import { cardsCases } from './cards_cases.ts';
import { grantsCases } from './grants_cases.ts';
import { pressesCases } from './presses_cases.ts';
import { signingCases } from './signing_cases.ts';
import { stepsCases } from './steps_cases.ts';
import { approvalSuite } from './suite.ts';
import { webStage } from './web_stage.ts';
import { wordsCases } from './words_cases.ts';

for (const cases of [
  wordsCases,
  pressesCases,
  cardsCases,
  stepsCases,
  signingCases,
  grantsCases,
  askedCases,
  againstCases,
])
  approvalSuite('web', webStage, 'direct', cases);
