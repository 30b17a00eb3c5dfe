import { approvalSuite } from './suite.ts';
import { telegramStage } from './telegram_stage.ts';
import { wordsCases } from './words_cases.ts';

approvalSuite('telegram', telegramStage, 'direct', wordsCases);
approvalSuite('telegram', telegramStage, 'room', wordsCases);
