import { adapterSuite } from './adapter_suite.ts';
import { webDriver } from './web_driver.ts';

adapterSuite('web', webDriver);
